//! Media types of files by the extension of their names.

/// Extensions and their media types, by kind.
const MEDIA_TYPES: &[(&str, &str)] = &[
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("svg", "image/svg+xml"),
    ("bmp", "image/bmp"),
    ("wav", "audio/wav"),
    ("mp3", "audio/mpeg"),
    ("m4a", "audio/mp4"),
    ("aac", "audio/aac"),
    ("ogg", "audio/ogg"),
    ("oga", "audio/ogg"),
    ("flac", "audio/flac"),
    ("aiff", "audio/aiff"),
    ("aif", "audio/aiff"),
    ("csv", "text/csv"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("tsv", "text/tab-separated-values"),
    ("txt", "text/plain"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("json", "application/json"),
    ("pdf", "application/pdf"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("sql", "application/sql"),
    ("xhtml", "application/xhtml+xml"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
];

/// The media type of files whose names end in this extension, in any case and without the dot.
pub fn of_extension(extension: &str) -> Option<&'static str> {
    MEDIA_TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension)).map(|(_, media_type)| *media_type)
}

/// The extensions of the media types that start with `prefix`, such as `image/`.
pub fn extensions(prefix: &str) -> impl Iterator<Item = &'static str> {
    MEDIA_TYPES.iter().filter(move |(_, media_type)| media_type.starts_with(prefix)).map(|(extension, _)| *extension)
}
