//! Listings of small crates, one for each rule.

use evalsuite_tests::source::{CrateSource, SourceFiles};

use super::listing::public_api;

fn listing(files: &[(&str, &str)]) -> Vec<String> {
    let files: SourceFiles = files.iter().map(|(path, text)| (format!("x/src/{path}"), (*text).to_owned())).collect();
    public_api(CrateSource::parse(&files, "x/src"), "x").lines().map(str::to_owned).collect()
}

fn listing_of_root(text: &str) -> Vec<String> {
    listing(&[("lib.rs", text)])
}

#[test]
fn items_are_listed_by_path_without_bodies() {
    let text = "
        pub fn read(path: &std::path::Path) -> std::io::Result<crate::inner::Item> {}
        pub fn run(mut options: Options, then: impl Fn(&str) -> bool) -> Result<(), crate::Error> where Error: Sized { todo!() }
        pub async fn wait<'a, T: Into<String>>(text: T) {}
        pub const LIMIT: usize = 3;
        pub static NAME: &str = \"x\";
        pub type Map<V> = std::collections::BTreeMap<String, V>;
        fn private() {}
        pub(crate) fn of_the_crate() {}
        #[doc(hidden)] pub fn hidden() {}
        #[cfg(test)] pub fn test() {}
        #[macro_export] macro_rules! check { () => {}; }
        macro_rules! internal { () => {}; }
    ";
    assert_eq!(
        listing_of_root(text),
        [
            "pub const x::LIMIT: usize",
            "pub type x::Map<V> = BTreeMap<String, V>",
            "pub static x::NAME: &str",
            "pub macro x::check!",
            "pub fn x::read(path: &Path) -> io::Result<Item>",
            "pub fn x::run(options: Options, then: impl Fn(&str) -> bool) -> Result<(), Error> where Error: Sized",
            "pub async fn x::wait<'a, T: Into<String>>(text: T)",
        ]
    );
}

#[test]
fn long_signatures_stay_on_one_line() {
    let text = "pub fn a_function_with_a_long_name(a_first_argument: &Path, a_second_argument: BTreeMap<PathBuf, \
                BTreeSet<String>>, a_third_argument: Option<&mut dyn FnMut(&str) -> bool>) {}";
    assert_eq!(listing_of_root(text), [text.replace("fn a", "fn x::a").trim_end_matches(" {}")]);
}

#[test]
fn types_show_what_their_users_can_see() {
    let text = "
        #[derive(Debug, Clone)] #[non_exhaustive] pub struct Open<'a, T> where T: Copy { pub value: &'a T }
        pub struct Half { pub shown: u8, own: u8, #[doc(hidden)] pub internal: u8 }
        pub struct Hidden { #[doc(hidden)] pub internal: u8 }
        pub struct Tuple(pub u8, u8);
        pub struct Unit;
        #[cfg_attr(feature = \"serde\", derive(serde::Serialize))]
        #[non_exhaustive] pub enum Choice { One, Two(u8, String), #[non_exhaustive] Three { a: u8 }, #[doc(hidden)] Four }
    ";
    assert_eq!(
        listing_of_root(text),
        [
            "#[non_exhaustive] pub enum x::Choice",
            "[feature = \"serde\"] impl Serialize for x::Choice",
            "x::Choice::One",
            "#[non_exhaustive] x::Choice::Three { a: u8 }",
            "x::Choice::Two(u8, String)",
            "pub struct x::Half { .. }",
            "pub x::Half::shown: u8",
            "pub struct x::Hidden { .. }",
            "#[non_exhaustive] pub struct x::Open<'a, T> where T: Copy",
            "impl Clone for x::Open<'a, T>",
            "impl Debug for x::Open<'a, T>",
            "pub x::Open::value: &'a T",
            "pub struct x::Tuple(pub u8, _)",
            "pub struct x::Unit",
        ]
    );
}

#[test]
fn traits_show_which_items_have_defaults() {
    let text = "pub trait Agent<M = ()>: Send + 'static { type Config: Copy; const NAME: &'static str; \
                fn run(&self) -> Self::Config; fn name(&self) -> String { String::new() } }";
    assert_eq!(
        listing_of_root(text),
        [
            "pub trait x::Agent<M = ()>: Send + 'static",
            "type x::Agent::Config: Copy",
            "const x::Agent::NAME: &'static str",
            "fn x::Agent::name(&self) -> String { .. }",
            "fn x::Agent::run(&self) -> Self::Config",
        ]
    );
}

#[test]
fn implementations_are_listed_with_their_type_wherever_they_are() {
    let root = "mod score; mod more; pub use score::Score; pub trait Grade {} trait Sealed {}";
    let more = "
        use std::fmt;

        use crate::{Grade, Sealed};
        use crate::score::{Internal, Score};
        impl Score { pub const MAX: f64 = 1.0; pub fn new(value: f64) -> Self { Score(value) } fn own(&self) {}
            #[cfg(test)] pub fn fixture() {} #[doc(hidden)] pub fn hidden() {} }
        impl Internal { pub fn new() -> Self { Internal } }
        impl fmt::Display for Score { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) } }
        impl fmt::Display for Internal {}
        impl From<bool> for crate::score::Score {}
        impl From<Score> for f64 {}
        impl From<Internal> for u8 {}
        impl<F: Fn(u8)> Grade for F {}
        impl Sealed for Score {}
        impl Grade for &Score {}
    ";
    let files = [("lib.rs", root), ("more.rs", more), ("score/mod.rs", "pub struct Score(f64); pub struct Internal;")];
    assert_eq!(
        listing(&files),
        [
            "pub trait x::Grade",
            "impl<F: Fn(u8)> Grade for F",
            "pub struct x::Score(_)",
            "impl Display for x::Score",
            "impl From<Score> for f64",
            "impl From<bool> for x::Score",
            "impl Grade for &Score",
            "pub const x::Score::MAX: f64",
            "pub fn x::Score::new(value: f64) -> Self",
        ]
    );
}

#[test]
fn re_exports_are_followed_to_what_they_name() {
    let root = "
        mod inner; pub mod outer; #[doc(hidden)] pub mod __private { pub fn f() {} }
        pub use inner::{Score, deep as shallow}; pub use inner::globbed::*; pub use inner::Renamed as Other;
        pub use evalsuite_schema::{record, Case as SchemaCase}; pub use evalsuite::*; use inner::NotExported;
        #[doc(hidden)] pub use inner::NotListed;
    ";
    let inner = "pub use self::globbed::Score; pub(crate) mod globbed { pub struct Score; pub fn g() {} fn h() {} } \
                 pub mod deep { pub fn d() {} } pub struct Renamed; pub struct NotExported; pub struct NotListed;";
    let outer = "pub use super::inner::Score;";
    assert_eq!(
        listing(&[("lib.rs", root), ("inner.rs", inner), ("outer/mod.rs", outer)]),
        [
            "pub use evalsuite::*",
            "pub struct x::Other",
            "pub use evalsuite_schema::Case as x::SchemaCase",
            "pub struct x::Score",
            "pub fn x::g()",
            "pub mod x::outer",
            "pub struct x::outer::Score",
            "pub use evalsuite_schema::record as x::record",
            "pub mod x::shallow",
            "pub fn x::shallow::d()",
        ]
    );
}

#[test]
fn conditions_mark_what_they_apply_to() {
    let root = "
        #[cfg(feature = \"judge\")] mod judge; #[cfg(feature = \"judge\")] pub use judge::Judge; pub struct Plain;
        #[cfg(all(unix, feature = \"run\"))] pub mod run { pub fn f() {} }
        impl Plain { #[cfg(feature = \"judge\")] pub fn ask(&self) {} }
    ";
    let judge = "#[derive(Clone)] pub struct Judge { pub name: String } impl From<Judge> for crate::Plain {}";
    assert_eq!(
        listing(&[("lib.rs", root), ("judge.rs", judge)]),
        [
            "[feature = \"judge\"] pub struct x::Judge",
            "[feature = \"judge\"] impl Clone for x::Judge",
            "[feature = \"judge\"] pub x::Judge::name: String",
            "pub struct x::Plain",
            "[feature = \"judge\"] impl From<Judge> for x::Plain",
            "[feature = \"judge\"] pub fn x::Plain::ask(&self)",
            "[all(unix, feature = \"run\")] pub mod x::run",
            "[all(unix, feature = \"run\")] pub fn x::run::f()",
        ]
    );
}

#[test]
fn items_that_a_macro_declares_are_listed() {
    let root = "
        macro_rules! names {
            ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident => $text:literal,)+ }) => {
                $(#[$meta])* #[derive(Clone)] pub enum $name { $($(#[$doc])* $variant,)+ }
                impl $name { pub fn as_str(self) -> &'static str { match self { $(Self::$variant => $text,)+ } } }
            };
        }
        names! { /// Documentation.
            #[non_exhaustive] Stage { /// First.
                Setup => \"setup\", Run => \"run\", } }
        macro_rules! constants { ($($name:ident: $ty:ty = $value:expr);* $(;)?) => { $(pub const $name: $ty = $value;)* }; }
        constants! { A: u8 = 1 + 1; B: &'static str = \"b\"; }
    ";
    assert_eq!(
        listing_of_root(root),
        [
            "pub const x::A: u8",
            "pub const x::B: &'static str",
            "#[non_exhaustive] pub enum x::Stage",
            "impl Clone for x::Stage",
            "x::Stage::Run",
            "x::Stage::Setup",
            "pub fn x::Stage::as_str(self) -> &'static str",
        ]
    );
}

#[test]
fn procedural_macros_are_listed_as_macros() {
    let text = "#[proc_macro] pub fn include(input: TokenStream) -> TokenStream { input }";
    assert_eq!(listing_of_root(text), ["pub macro x::include!"]);
}
