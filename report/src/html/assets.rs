//! The script and the style of the page.

/// The files of the script, in order. They share one scope.
const SCRIPT_FILES: &[&str] = &[
    include_str!("../../assets/js/strict.js"),
    include_str!("../../assets/js/dom.js"),
    include_str!("../../assets/js/icons.js"),
    include_str!("../../assets/js/format.js"),
    include_str!("../../assets/js/statistics.js"),
    include_str!("../../assets/js/data.js"),
    include_str!("../../assets/js/route.js"),
    include_str!("../../assets/js/filter.js"),
    include_str!("../../assets/js/search.js"),
    include_str!("../../assets/js/header.js"),
    include_str!("../../assets/js/table.js"),
    include_str!("../../assets/js/cases_view.js"),
    include_str!("../../assets/js/text_block.js"),
    include_str!("../../assets/js/markdown.js"),
    include_str!("../../assets/js/transcript.js"),
    include_str!("../../assets/js/diff_view.js"),
    include_str!("../../assets/js/grader_view.js"),
    include_str!("../../assets/js/case_view.js"),
    include_str!("../../assets/js/plots.js"),
    include_str!("../../assets/js/grid_view.js"),
    include_str!("../../assets/js/trends_view.js"),
    include_str!("../../assets/js/breakdown_view.js"),
    include_str!("../../assets/js/transcripts_page.js"),
    include_str!("../../assets/js/help.js"),
    include_str!("../../assets/js/main.js"),
];

/// The style of the page.
pub(super) const STYLE: &str = include_str!("../../assets/report.css");

/// The script of the page.
pub(super) fn script() -> String {
    SCRIPT_FILES.concat()
}
