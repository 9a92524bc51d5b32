//! The derives `ToJson` and `FromJson`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Fields, GenericParam, Generics, Ident, LitStr, Path, Result, parse_quote};

use crate::words::written;

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
                ("rename_all", Some(text)) => options.rename_all = Some(text.value()),
                ("default", None) => options.default = Some(Default::OfType),
                ("default", Some(path)) => options.default = Some(Default::Of(path.parse()?)),
                ("skip_if", Some(path)) => options.skip_if = Some(path.parse()?),
                ("read_with", Some(path)) => options.read_with = Some(path.parse()?),
                ("skip", None) => options.skip = true,
                ("fill", None) => options.fill = Some(Default::OfType),
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
    let mut named = Vec::new();
    for field in fields {
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
            Some(skip) => quote!(if !#skip(#value) { object.field(#key, #value); }),
            None => quote!(object.field(#key, #value);),
        }
    }

    /// Replaces the field of `read`.
    fn fill(&self, all_may_be_absent: bool) -> TokenStream {
        let Self { ident, key, options } = self;
        match (&options.read_with, &options.default) {
            _ if options.skip => TokenStream::new(),
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
        Data::Struct(data) => match &data.fields {
            Fields::Named(_) => {
                let fields = named(&data.fields)?;
                let fields = fields.iter().map(|field| {
                    let ident = field.ident;
                    field.write(&quote!(&self.#ident))
                });
                quote! {
                    let mut object = writer.object()?;
                    #(#fields)*
                    object.end()
                }
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => quote!(json::ToJson::write(&self.0, writer)),
            _ => return Err(syn::Error::new(name.span(), "a struct with named fields, or with one value, is JSON")),
        },
        Data::Enum(data) => {
            let style = options(&item.attrs)?.rename_all.unwrap_or_default();
            let mut arms = Vec::new();
            for variant in &data.variants {
                let word = word(variant, &style)?;
                let ident = &variant.ident;
                arms.push(match &variant.fields {
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
                });
            }
            quote!(match self { #(#arms,)* })
        }
        Data::Union(_) => return Err(syn::Error::new(name.span(), "a union is not JSON")),
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

pub(crate) fn from_json(item: &DeriveInput) -> Result<TokenStream> {
    let name = &item.ident;
    let of_item = options(&item.attrs)?;
    let body = match &item.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(_) => {
                let expected = format!("struct {name}");
                let fields = named(&data.fields)?;
                if let Some(start) = of_item.start() {
                    let reads = fields.iter().map(|field| field.fill(of_item.default.is_some()));
                    quote! {
                        let mut fields = json::Fields::of(value, #expected)?;
                        let mut read: Self = #start;
                        #(#reads)*
                        fields.end()?;
                        Ok(read)
                    }
                } else {
                    let reads = fields.iter().map(Named::read);
                    quote! {
                        let mut fields = json::Fields::of(value, #expected)?;
                        Ok(Self { #(#reads),* })
                    }
                }
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => quote!(Ok(Self(json::FromJson::from_json(value)?))),
            _ => return Err(syn::Error::new(name.span(), "a struct with named fields, or with one value, is JSON")),
        },
        Data::Enum(data) => {
            let style = of_item.rename_all.unwrap_or_default();
            let units = data.variants.iter().all(|variant| matches!(variant.fields, Fields::Unit));
            let (mut words, mut arms) = (Vec::new(), Vec::new());
            for variant in &data.variants {
                let word = word(variant, &style)?;
                let ident = &variant.ident;
                let value = match &variant.fields {
                    Fields::Unit if units => quote!(Self::#ident),
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
                };
                arms.push(quote!(#word => #value));
                words.push(word);
            }
            let unknown = quote!(return Err(variant.unknown(&[#(#words),*])));
            if units {
                quote! {
                    let variant = json::Variant::of(value)?;
                    let read = match &*variant.name {
                        #(#arms,)*
                        _ => #unknown,
                    };
                    variant.unit()?;
                    Ok(read)
                }
            } else {
                quote! {
                    let variant = json::Variant::of(value)?;
                    match &*variant.name {
                        #(#arms,)*
                        _ => #unknown,
                    }
                }
            }
        }
        Data::Union(_) => return Err(syn::Error::new(name.span(), "a union is not JSON")),
    };
    let generics = bounded(&item.generics, &parse_quote!(::evalsuite_schema::json::FromJson));
    let (_, of_type, bounds) = generics.split_for_impl();
    let of_deserialize = with_lifetime(&generics);
    let (of_impl, _, _) = generics.split_for_impl();
    let (of_deserialize, _, _) = of_deserialize.split_for_impl();
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

/// The word of a variant.
fn word(variant: &syn::Variant, style: &str) -> Result<String> {
    Ok(options(&variant.attrs)?.rename.unwrap_or_else(|| written(&variant.ident, style)))
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
