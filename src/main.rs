//! The `clinker` program.

fn main() -> std::process::ExitCode {
    clinker::cli::main()
}
