//! The live screen: problems and last results, and the keys.

use std::env;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::style::{PrintStyledContent, StyledContent, Stylize, style};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{event, execute, queue, terminal};
use evalsuite_schema::diagnostics::render;
use evalsuite_schema::diagnostics::terminal::line as plain_line;

use super::state::WatchState;
use super::verdicts::{LastResult, Verdict};

const KEYS: &str = "a all  f failures  ↑↓ choose  o open  / filter  q quit";

/// The terminal while it is the screen's. It is given back when this is dropped.
pub(super) struct Screen {
    /// Index of the chosen line among the results.
    chosen: usize,
    /// The filter that is being typed.
    typed: Option<String>,
    /// What went wrong with the last key.
    notice: String,
    /// What is on the screen: it is drawn again only if it differs.
    shown: Vec<Line>,
}

/// A line, without colors where the user has set `NO_COLOR`.
type Line = StyledContent<String>;

impl Screen {
    pub(super) fn open() -> io::Result<Self> {
        enter()?;
        Ok(Self { chosen: 0, typed: None, notice: String::new(), shown: Vec::new() })
    }

    pub(super) fn draw(&mut self, state: &WatchState) -> io::Result<()> {
        let (width, height) = terminal::size()?;
        let lines = self.lines(state, usize::from(height));
        if lines == self.shown {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        for (row, line) in (0..height).zip(&lines) {
            if self.shown.get(usize::from(row)) == Some(line) {
                continue;
            }
            let text: String = line.content().chars().take(usize::from(width)).collect();
            let line = PrintStyledContent(line.style().apply(text));
            queue!(out, MoveTo(0, row), line, Clear(ClearType::UntilNewLine))?;
        }
        out.flush()?;
        self.shown = lines;
        Ok(())
    }

    /// Title, problems, results, the text of the chosen failure, keys.
    fn lines(&mut self, state: &WatchState, height: usize) -> Vec<Line> {
        let results = state.verdicts.shown();
        self.chosen = self.chosen.min(results.len().saturating_sub(1));
        let mut lines = vec![style(format!("evalsuite watch: {}   {}", state.activity(), state.summary()))];
        if !state.filters.is_empty() {
            lines.push(style(format!("only {}", state.filters.join(", "))));
        }
        lines.push(style(String::new()));
        for problem in &state.suites.diagnostics() {
            let text = render::text(problem, render::Style::Plain);
            lines.extend(text.lines().map(|text| plain_line(text).yellow()));
        }
        let of_build = state.build_problems.text.lines();
        lines.extend(of_build.map(|text| plain_line(text).red()));
        // Problems leave room for results, and results for the text of a failure.
        let room = height.saturating_sub(2);
        lines.truncate(room * 2 / 3);
        let rest = room.saturating_sub(lines.len());
        let failure: Vec<&str> =
            results.get(self.chosen).map(|(_, result)| result.text.lines().collect()).unwrap_or_default();
        let listed = if failure.is_empty() { rest } else { rest.div_ceil(2) };
        let first = (self.chosen + 1).saturating_sub(listed);
        for (index, (test, result)) in results.iter().enumerate().skip(first).take(listed) {
            let line = result_line(test, result);
            lines.push(if index == self.chosen { line.reverse() } else { line });
        }
        let rest = room.saturating_sub(lines.len());
        lines.extend(failure.into_iter().take(rest).map(|text| style(plain_line(text))));
        lines.resize(height.saturating_sub(1), style(String::new()));
        lines.push(style(match &self.typed {
            Some(text) => format!("filter: {text}"),
            None if !self.notice.is_empty() => self.notice.clone(),
            None => KEYS.to_owned(),
        }));
        lines
    }

    /// Acts on the keys that were pressed; breaks if one of them quits.
    pub(super) fn keys(&mut self, state: &mut WatchState) -> io::Result<ControlFlow<()>> {
        while event::poll(Duration::ZERO)? {
            match event::read()? {
                event::Event::Key(key) if key.kind != KeyEventKind::Release => {
                    self.notice.clear();
                    if self.key(key, state)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                event::Event::Resize(..) => self.shown.clear(),
                _ => {}
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn key(&mut self, key: KeyEvent, state: &mut WatchState) -> io::Result<ControlFlow<()>> {
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
            return Ok(ControlFlow::Break(()));
        }
        if let Some(typed) = &mut self.typed {
            match key.code {
                KeyCode::Char(character) => typed.push(character),
                KeyCode::Backspace => drop(typed.pop()),
                KeyCode::Enter => {
                    state.filters = typed.split_whitespace().map(str::to_owned).collect();
                    self.typed = None;
                }
                KeyCode::Esc => self.typed = None,
                _ => {}
            }
            return Ok(ControlFlow::Continue(()));
        }
        match key.code {
            KeyCode::Char('q') => return Ok(ControlFlow::Break(())),
            KeyCode::Char('a') => state.want_all(),
            KeyCode::Char('f') => state.want_failures(),
            KeyCode::Char('/') => self.typed = Some(state.filters.join(" ")),
            KeyCode::Char('o') => self.open_chosen(state)?,
            KeyCode::Up => self.chosen = self.chosen.saturating_sub(1),
            KeyCode::Down => self.chosen += 1,
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Opens the chosen case in the editor, which has the terminal until it ends.
    fn open_chosen(&mut self, state: &WatchState) -> io::Result<()> {
        let results = state.verdicts.shown();
        let place = results.get(self.chosen).and_then(|(_, result)| state.suites.place(&result.case));
        let Some((_, file)) = place else { return Ok(()) };
        leave()?;
        let opened = open(&file);
        enter()?;
        self.shown.clear();
        if let Err(problem) = opened {
            self.notice = problem;
        }
        Ok(())
    }
}

fn result_line(test: &str, result: &LastResult) -> Line {
    let text = format!("{:8} {test}", result.verdict.word());
    match result.verdict {
        Verdict::Running | Verdict::Outdated => style(text),
        Verdict::Passed => text.green(),
        Verdict::Failed => text.red(),
        Verdict::Skipped => text.yellow(),
    }
}

/// Runs the editor. Its command may have arguments, `code --wait`.
fn open(file: &Path) -> Result<(), String> {
    let editor =
        ["VISUAL", "EDITOR"].into_iter().find_map(|name| env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let Some(editor) = editor else { return Err(format!("set VISUAL or EDITOR to open {}", file.display())) };
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    match Command::new(program).args(words).arg(file).status() {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Hide, Clear(ClearType::All))
}

fn leave() -> io::Result<()> {
    execute!(io::stdout(), Show, LeaveAlternateScreen)?;
    disable_raw_mode()
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The terminal may be gone; the shell resets it otherwise.
        let _ = leave();
    }
}
