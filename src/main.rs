//! The `clinker` program.

fn main() -> std::process::ExitCode {
    clinker::exec::memory::keep_freed_memory();
    clinker::cli::main()
}
