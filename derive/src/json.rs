//! The derives `ToJson` and `FromJson`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DataEnum, DeriveInput, Fields, GenericParam, Generics, Ident, ItemStruct, LitStr, Path, Result,
    Token, Type, parse_quote,
};

/// Options of the attribute `json`.
#[derive(Default)]
struct Options {
    /// The name in JSON.
    rename: Option<String>,
    /// How names of variants are written.
    rename_all: Option<String>,
    /// What an absent field holds.
    default: Option<Default>,
    /// A field is left out of JSON where this function is true of it.
    skip_if: Option<Path>,
    /// The function that reads the field.
    read_with: Option<Path>,
    /// Whether JSON has no such field.
    skip: bool,
    /// Whether the fields replace those of the type's default, also where they have to be there.
    fill: Option<Default>,
    /// Whether the fields of a type are fields of the objects that have it.
    part: bool,
    /// Whether the fields of the field's type, which is a part, are fields of the object.
    flatten: bool,
}

enum Default {
    OfType,
    Of(Path),
}

fn options(attributes: &[Attribute]) -> Result<Options> {
    let mut options = Options::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("json")) {
        attribute.parse_nested_meta(|meta| {
            let text = if meta.input.peek(syn::Token![=]) { Some(meta.value()?.parse::<LitStr>()?) } else { None };
            let name = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
            match (name.as_str(), text) {
                ("rename", Some(text)) => options.rename = Some(text.value()),
                ("rename_all", Some(text)) if ["kebab-case", "snake_case"].contains(&text.value().as_str()) => {
                    options.rename_all = Some(text.value());
                }
                ("default", None) => options.default = Some(Default::OfType),
                ("default", Some(path)) => options.default = Some(Default::Of(path.parse()?)),
                ("skip_if", Some(path)) => options.skip_if = Some(path.parse()?),
                ("read_with", Some(path)) => options.read_with = Some(path.parse()?),
                ("skip", None) => options.skip = true,
                ("part", None) => options.part = true,
                ("flatten", None) => options.flatten = true,
                ("fill", Some(path)) => options.fill = Some(Default::Of(path.parse()?)),
                _ => return Err(meta.error("not an option of `json`")),
            }
            Ok(())
        })?;
    }
    Ok(options)
}

impl Options {
    /// What the fields of a struct are replaced in.
    fn start(&self) -> Option<TokenStream> {
        match self.default.as_ref().or(self.fill.as_ref())? {
            Default::OfType => Some(quote!(::core::default::Default::default())),
            Default::Of(start) => Some(quote!(#start())),
        }
    }
}

/// A field with its name in JSON.
struct Named<'f> {
    ident: &'f Ident,
    key: String,
    options: Options,
}

fn named(fields: &Fields) -> Result<Vec<Named<'_>>> {
    let Fields::Named(fields) = fields else { return Err(not_json(fields)) };
    let mut named = Vec::new();
    for field in &fields.named {
        let Some(ident) = &field.ident else { continue };
        let options = options(&field.attrs)?;
        let key = options.rename.clone().unwrap_or_else(|| ident.to_string().trim_start_matches("r#").to_owned());
        named.push(Named { ident, key, options });
    }
    Ok(named)
}

impl Named<'_> {
    /// Writes the field, a reference to which is `value`.
    fn write(&self, value: &TokenStream) -> TokenStream {
        let Self { key, options, .. } = self;
        match &options.skip_if {
            _ if options.skip => TokenStream::new(),
            _ if options.flatten => quote!((#value).write_fields(&mut object);),
            Some(skip) => quote!(if !#skip(#value) { object.field(#key, #value); }),
            None => quote!(object.field(#key, #value);),
        }
    }

    /// Replaces the field of `read`.
    fn fill(&self, all_may_be_absent: bool) -> TokenStream {
        let Self { ident, key, options } = self;
        match (&options.read_with, &options.default) {
            _ if options.skip => TokenStream::new(),
            _ if options.flatten => quote!(read.#ident.read_fields(&mut fields);),
            (Some(read), _) => quote!(fields.set_read(#key, &mut read.#ident, #read);),
            (None, Some(Default::Of(default))) => quote!(fields.set_or(#key, &mut read.#ident, #default);),
            (None, Some(Default::OfType)) => quote!(fields.set_optional(#key, &mut read.#ident);),
            (None, None) if all_may_be_absent => quote!(fields.replace(#key, &mut read.#ident);),
            (None, None) => quote!(fields.set(#key, &mut read.#ident);),
        }
    }

    /// Reads the field, in a struct expression.
    fn read(&self) -> TokenStream {
        let Self { ident, key, options } = self;
        let value = match (&options.read_with, &options.default) {
            _ if options.skip => quote!(::core::default::Default::default()),
            (Some(read), _) => quote!(fields.read(#key, #read)?),
            (None, None) => quote!(fields.required(#key)?),
            (None, Some(Default::OfType)) => quote!(fields.optional(#key)?),
            (None, Some(Default::Of(default))) => quote!(fields.or(#key, #default)?),
        };
        quote!(#ident: #value)
    }
}

pub(crate) fn to_json(item: &DeriveInput) -> Result<TokenStream> {
    let name = &item.ident;
    let body = match &item.data {
        Data::Struct(data) if is_newtype(&data.fields) => quote!(json::ToJson::write(&self.0, writer)),
        Data::Struct(data) => {
            let fields = named(&data.fields)?;
            let writes = fields.iter().map(|field| {
                let ident = field.ident;
                field.write(&quote!(&self.#ident))
            });
            if options(&item.attrs)?.part {
                return Ok(quote! {
                    impl #name {
                        pub(crate) fn write_fields(&self, object: &mut ::evalsuite_schema::json::ObjectWriter<'_, '_>) {
                            #(#writes)*
                        }
                    }
                });
            }
            quote! {
                let mut object = writer.object()?;
                #(#writes)*
                object.end()
            }
        }
        Data::Enum(data) => {
            let style = style(&item.attrs)?;
            let arms =
                data.variants.iter().map(|variant| write_variant(variant, &style)).collect::<Result<Vec<_>>>()?;
            quote!(match self { #(#arms,)* })
        }
        Data::Union(_) => return Err(not_json(name)),
    };
    let generics = bounded(&item.generics, &parse_quote!(::evalsuite_schema::json::ToJson));
    let (of_impl, of_type, bounds) = generics.split_for_impl();
    Ok(quote! {
        const _: () = {
            use ::evalsuite_schema::json;

            impl #of_impl json::ToJson for #name #of_type #bounds {
                fn write(&self, writer: &mut json::JsonWriter<'_>) -> json::Result<()> { #body }
            }

            impl #of_impl json::serde::Serialize for #name #of_type #bounds {
                fn serialize<Serializer: json::serde::Serializer>(
                    &self,
                    serializer: Serializer,
                ) -> ::core::result::Result<Serializer::Ok, Serializer::Error> {
                    json::serialize(self, serializer)
                }
            }
        };
    })
}

fn write_variant(variant: &syn::Variant, style: &str) -> Result<TokenStream> {
    let (ident, word) = (&variant.ident, word(variant, style)?);
    Ok(match &variant.fields {
        Fields::Unit => quote!(Self::#ident => writer.word(#word)),
        Fields::Unnamed(_) => quote!(Self::#ident(value) => writer.variant(#word, value)),
        Fields::Named(_) => {
            let fields = named(&variant.fields)?;
            let idents = fields.iter().map(|field| field.ident);
            let writes = fields.iter().map(|field| {
                let ident = field.ident;
                field.write(&quote!(#ident))
            });
            quote!(Self::#ident { #(#idents),* } => {
                let mut object = writer.object_of_variant(#word)?;
                #(#writes)*
                object.end()
            })
        }
    })
}

pub(crate) fn from_json(item: &DeriveInput, over_default: bool) -> Result<TokenStream> {
    let name = &item.ident;
    let body = match &item.data {
        Data::Struct(data) if options(&item.attrs)?.part => return read_part(name, &data.fields),
        Data::Struct(data) if is_newtype(&data.fields) => quote!(Ok(Self(json::FromJson::from_json(value)?))),
        Data::Struct(data) => read_struct(item, &data.fields, over_default)?,
        Data::Enum(data) => read_enum(item, data)?,
        Data::Union(_) => return Err(not_json(name)),
    };
    let generics = bounded(&item.generics, &parse_quote!(::evalsuite_schema::json::FromJson));
    let (of_impl, of_type, bounds) = generics.split_for_impl();
    let with_lifetime = with_lifetime(&generics);
    let (of_deserialize, _, _) = with_lifetime.split_for_impl();
    Ok(quote! {
        const _: () = {
            use ::evalsuite_schema::json;

            impl #of_impl json::FromJson for #name #of_type #bounds {
                fn from_json(value: json::Value) -> json::Result<Self> { #body }
            }

            impl #of_deserialize json::serde::Deserialize<'json> for #name #of_type #bounds {
                fn deserialize<Deserializer: json::serde::Deserializer<'json>>(
                    deserializer: Deserializer,
                ) -> ::core::result::Result<Self, Deserializer::Error> {
                    json::deserialize(deserializer)
                }
            }
        };
    })
}

fn read_struct(item: &DeriveInput, fields: &Fields, over_default: bool) -> Result<TokenStream> {
    let mut of_item = options(&item.attrs)?;
    if over_default {
        of_item.fill.get_or_insert(Default::OfType);
    }
    let expected = format!("struct {}", item.ident);
    let fields = named(fields)?;
    let Some(start) = of_item.start() else {
        if let Some(field) = fields.iter().find(|field| field.options.flatten) {
            return Err(syn::Error::new_spanned(field.ident, "a struct with a part is read over a default"));
        }
        let reads = fields.iter().map(Named::read);
        return Ok(quote! {
            let mut fields = json::Fields::of(value, #expected)?;
            Ok(Self { #(#reads),* })
        });
    };
    let reads = fields.iter().map(|field| field.fill(of_item.default.is_some()));
    Ok(quote! {
        let mut fields = json::Fields::of(value, #expected)?;
        let mut read: Self = #start;
        #(#reads)*
        fields.end()?;
        Ok(read)
    })
}

fn read_part(name: &Ident, fields: &Fields) -> Result<TokenStream> {
    let fields = named(fields)?;
    let reads = fields.iter().map(|field| field.fill(false));
    Ok(quote! {
        impl #name {
            pub(crate) fn read_fields(&mut self, fields: &mut ::evalsuite_schema::json::Fields) {
                let read = self;
                #(#reads)*
            }
        }
    })
}

fn read_enum(item: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let style = style(&item.attrs)?;
    let words = data.variants.iter().map(|variant| word(variant, &style)).collect::<Result<Vec<_>>>()?;
    let unknown = quote!(return Err(variant.unknown(&[#(#words),*])));
    if data.variants.iter().all(|variant| matches!(variant.fields, Fields::Unit)) {
        let idents = data.variants.iter().map(|variant| &variant.ident);
        return Ok(quote! {
            let variant = json::Variant::of(value)?;
            let read = match &*variant.name {
                #(#words => Self::#idents,)*
                _ => #unknown,
            };
            variant.unit()?;
            Ok(read)
        });
    }
    let reads = data.variants.iter().map(|variant| read_variant(&item.ident, variant)).collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        let variant = json::Variant::of(value)?;
        match &*variant.name {
            #(#words => #reads,)*
            _ => #unknown,
        }
    })
}

fn read_variant(name: &Ident, variant: &syn::Variant) -> Result<TokenStream> {
    let ident = &variant.ident;
    Ok(match &variant.fields {
        Fields::Unit => quote!({
            variant.unit()?;
            Ok(Self::#ident)
        }),
        Fields::Unnamed(_) => quote!(Ok(Self::#ident(variant.value()?))),
        Fields::Named(_) => {
            let expected = format!("struct variant {name}::{ident}");
            let fields = named(&variant.fields)?;
            let reads = fields.iter().map(Named::read);
            quote!({
                let mut fields = variant.fields(#expected)?;
                Ok(Self::#ident { #(#reads),* })
            })
        }
    })
}

fn is_newtype(fields: &Fields) -> bool {
    matches!(fields, Fields::Unnamed(fields) if fields.unnamed.len() == 1)
}

fn not_json(item: impl ToTokens) -> syn::Error {
    syn::Error::new_spanned(item, "a struct with named fields or with one value, or an enum, is JSON")
}

/// How the names of variants are written.
pub(crate) fn style(attributes: &[Attribute]) -> Result<String> {
    Ok(options(attributes)?.rename_all.unwrap_or_else(|| "snake_case".to_owned()))
}

/// The word of a variant.
pub(crate) fn word(variant: &syn::Variant, style: &str) -> Result<String> {
    Ok(options(&variant.attrs)?.rename.unwrap_or_else(|| written(&variant.ident, style)))
}

/// The name of a variant in the style `style`.
fn written(variant: &Ident, style: &str) -> String {
    let separator = if style == "kebab-case" { "-" } else { "_" };
    let mut word = String::new();
    for (index, letter) in variant.to_string().char_indices() {
        if letter.is_uppercase() && index > 0 {
            word.push_str(separator);
        }
        word.extend(letter.to_lowercase());
    }
    word
}

/// The generics with a bound for each type.
fn bounded(generics: &Generics, bound: &syn::TypeParamBound) -> Generics {
    let mut generics = generics.clone();
    for parameter in &mut generics.params {
        if let GenericParam::Type(parameter) = parameter {
            parameter.bounds.push(bound.clone());
        }
    }
    generics
}

/// The generics with the lifetime of `Deserialize`.
fn with_lifetime(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    generics.params.insert(0, parse_quote!('json));
    generics
}

/// The arguments of the attribute `skip_empty`: the fields that are left out.
pub(crate) struct SkippedFields {
    /// Whether all options, lists and objects are.
    has_all: bool,
    others: Vec<Ident>,
}

impl Parse for SkippedFields {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let has_all = input.is_empty() || input.parse::<Option<Token![..]>>()?.is_some();
        if has_all && !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        let others = Punctuated::<Ident, Token![,]>::parse_terminated(input)?.into_iter().collect();
        Ok(Self { has_all, others })
    }
}

/// The attribute `skip_empty`.
pub(crate) fn skip_empty(mut skipped: SkippedFields, mut item: ItemStruct) -> Result<TokenStream> {
    for field in &mut item.fields {
        let Some(ident) = &field.ident else { continue };
        let known = skipped.others.len();
        skipped.others.retain(|other| other != ident);
        let last = if let Type::Path(of_type) = &field.ty { of_type.path.segments.last() } else { None };
        let is_empty = match last.map(|last| last.ident.to_string()).as_deref() {
            Some("Option") => "Option::is_none",
            Some("Vec") => "Vec::is_empty",
            Some("Object") => "Object::is_empty",
            _ => "::evalsuite_schema::json::is_default",
        };
        if skipped.others.len() < known || skipped.has_all && !is_empty.ends_with("is_default") {
            field.attrs.push(parse_quote!(#[json(default, skip_if = #is_empty)]));
        }
    }
    match skipped.others.first() {
        Some(other) => Err(syn::Error::new_spanned(other, "not a field")),
        None => Ok(quote!(#item)),
    }
}
