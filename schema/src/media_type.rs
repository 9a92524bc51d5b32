//! Media types of files by the extension of their names.

/// Media types and the extensions of their files, by kind.
const MEDIA_TYPES: &[(&str, &[&str])] = &[
    ("image/png", &["png"]),
    ("image/jpeg", &["jpg", "jpeg"]),
    ("image/gif", &["gif"]),
    ("image/webp", &["webp"]),
    ("image/svg+xml", &["svg"]),
    ("image/bmp", &["bmp"]),
    ("audio/wav", &["wav"]),
    ("audio/mpeg", &["mp3"]),
    ("audio/mp4", &["m4a"]),
    ("audio/aac", &["aac"]),
    ("audio/ogg", &["ogg", "oga"]),
    ("audio/flac", &["flac"]),
    ("audio/aiff", &["aiff", "aif"]),
    ("text/csv", &["csv"]),
    ("text/html", &["htm", "html"]),
    ("text/markdown", &["markdown", "md"]),
    ("text/tab-separated-values", &["tsv"]),
    ("text/plain", &["txt"]),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", &["docx"]),
    ("application/json", &["json"]),
    ("application/pdf", &["pdf"]),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", &["pptx"]),
    ("application/sql", &["sql"]),
    ("application/xhtml+xml", &["xhtml"]),
    ("application/vnd.ms-excel", &["xls"]),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", &["xlsx"]),
    ("application/xml", &["xml"]),
    ("application/yaml", &["yaml", "yml"]),
    ("application/zip", &["zip"]),
];

/// The media type of files whose names end in this extension, in any case and without the dot.
pub fn of_extension(extension: &str) -> Option<&'static str> {
    let is_it = |known: &&str| known.eq_ignore_ascii_case(extension);
    MEDIA_TYPES.iter().find(|(_, extensions)| extensions.iter().any(is_it)).map(|(media_type, _)| *media_type)
}

/// The media type that a media type or an extension means, in any case and with or without the dot; an unknown extension as it is.
pub fn of_name(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let name = name.trim_start_matches('.');
    of_extension(name).unwrap_or(name).to_owned()
}

/// The extensions of the media types that start with `prefix`, such as `image/`.
pub fn extensions(prefix: &str) -> impl Iterator<Item = &'static str> {
    let found = MEDIA_TYPES.iter().filter(move |(media_type, _)| media_type.starts_with(prefix));
    found.flat_map(|(_, extensions)| *extensions).copied()
}
