//! The command line: arguments in, text and exit codes out. The only place that prints or exits.
