//! What attributes say about an item: whether it is test code, and on which features it depends.

use std::ops::RangeInclusive;

use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Field, ImplItem, Item, Meta, TraitItem, Variant, visit};

/// Whether an item exists in test builds only: `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`.
pub fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg") && attribute.parse_args::<Meta>().is_ok_and(|meta| requires_test(&meta))
    })
}

fn requires_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => nested(list).iter().any(requires_test),
        _ => false,
    }
}

fn nested(list: &syn::MetaList) -> Vec<Meta> {
    let parser = syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated;
    list.parse_args_with(parser).map(|metas| metas.into_iter().collect()).unwrap_or_default()
}

/// The conditions of `#[cfg(…)]` attributes, as they are written.
pub fn cfg_conditions(attributes: &[Attribute]) -> Vec<String> {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let texts = conditions.filter_map(|attribute| match &attribute.meta {
        Meta::List(list) => Some(list.tokens.to_string()),
        _ => None,
    });
    texts.map(|text| text.replace(" (", "(").replace(" ,", ",")).collect()
}

/// The attributes of an item of any kind.
pub fn item_attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The lines of a file's test code.
pub fn test_lines(file: &syn::File) -> Vec<RangeInclusive<usize>> {
    let mut found = TestLines::default();
    found.visit_file(file);
    found.lines
}

#[derive(Default)]
struct TestLines {
    lines: Vec<RangeInclusive<usize>>,
}

impl TestLines {
    /// Notes the lines of test code, or calls `otherwise` to look inside.
    fn check(&mut self, attributes: &[Attribute], code: &dyn Spanned, otherwise: impl FnOnce(&mut Self)) {
        if is_test_only(attributes) {
            let span = code.span();
            self.lines.push(span.start().line..=span.end().line);
        } else {
            otherwise(self);
        }
    }
}

impl<'ast> Visit<'ast> for TestLines {
    fn visit_item(&mut self, item: &'ast Item) {
        self.check(item_attributes(item), item, |this| visit::visit_item(this, item));
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes: &[Attribute] = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            _ => &[],
        };
        self.check(attributes, item, |this| visit::visit_impl_item(this, item));
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes: &[Attribute] = match item {
            TraitItem::Const(item) => &item.attrs,
            TraitItem::Fn(item) => &item.attrs,
            TraitItem::Type(item) => &item.attrs,
            _ => &[],
        };
        self.check(attributes, item, |this| visit::visit_trait_item(this, item));
    }

    fn visit_field(&mut self, field: &'ast Field) {
        self.check(&field.attrs, field, |this| visit::visit_field(this, field));
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        self.check(&variant.attrs, variant, |this| visit::visit_variant(this, variant));
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.check(&local.attrs, local, |this| visit::visit_local(this, local));
    }
}
