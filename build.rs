//! SQLite unloads a library whose entry point failed, and every library when the last connection closes.
//! Functions registered from it must stay mapped: the loadable build is linked so that it is never unloaded.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_LOADABLE").is_some() {
        println!("cargo::rustc-link-arg=-Wl,-z,nodelete");
    }
}
