//! How the library is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // References of the library to its own symbols are bound while it is linked. Otherwise each of them is looked up by its
    // name, of which there are ten thousands, whenever a test starts.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg=-Wl,-Bsymbolic");
    }
}
