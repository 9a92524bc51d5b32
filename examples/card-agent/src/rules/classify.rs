//! Turns a note into a card, a question or a refusal.

use std::ops::Range;

use jiff::civil::{Date, Time};

use super::contact::Channels;
use super::date::{DateMeaning, FoundDate, Tense};
use super::mentions::{is_written_without_spaces, mentions, starts_with};
use super::money::Amount;
use super::time::{FoundTime, TimeMeaning};
use super::{EventMove, NoteMeaning, Profile, contact, date, fields, money, refusal, text, time, vocabulary};
use crate::{Card, Template};

/// Interprets `note` as written on the day `today`.
pub(crate) fn read(note: &str, today: Date, profile: &Profile) -> NoteMeaning {
    let normalized = text::normalize(note);
    if let Some(reason) = refusal::find(&normalized) {
        return NoteMeaning::Nothing(reason);
    }
    let reader = NoteReader { original: note, lower: normalized.to_lowercase(), text: normalized, today, profile };
    // Patterns overlap: a phone number may look like a date. Recognised parts are blanked for the patterns that follow.
    let channels = contact::find(&reader.text);
    if !channels.is_empty() || reader.speaks_of_contact_without_channel() {
        return reader.contact(&channels);
    }
    let amounts = money::find(&reader.text);
    let speaks_of_money = !amounts.is_empty() || mentions(&reader.lower, vocabulary::EXPENSE);
    if speaks_of_money && let Some(reading) = reader.expense(amounts) {
        return reading;
    }
    reader.plan()
}

/// Interprets the parts of a note.
struct NoteReader<'a> {
    original: &'a str,
    text: String,
    lower: String,
    today: Date,
    profile: &'a Profile,
}

impl NoteReader<'_> {
    fn card(&self, template: Template, title: String) -> Card {
        Card::new(template, title, self.original)
    }

    fn dates(&self, text: &str, tense: Tense) -> Vec<FoundDate> {
        date::find(text, self.today, self.profile.date_order, tense)
    }

    fn speaks_of_contact_without_channel(&self) -> bool {
        let lower = self.lower.as_str();
        starts_with(lower, &["new contact", "contact", "save contact"]).is_some()
            || (lower.contains("'s ") && mentions(lower, &["phone number", "number is", "new number", "email address"]))
    }

    fn contact(&self, channels: &Channels) -> NoteMeaning {
        let rest = text::without(&self.text, &channels.ranges());
        let name = contact_name(&rest);
        if name.is_empty() {
            return NoteMeaning::Unclear("Whose number or address is this?".to_owned());
        }
        if channels.is_empty() {
            return NoteMeaning::Unclear(format!("What is the phone number or email address of {name}?"));
        }
        let mut card = self.card(Template::Contact, name);
        if let Some((_, phone)) = &channels.phone {
            card = card.field("phone", phone);
        }
        if let Some((_, email)) = &channels.email {
            card = card.field("email", email);
        }
        if mentions(&self.lower, vocabulary::CHANGED) && !self.lower.contains("new contact") {
            NoteMeaning::Changed(card)
        } else {
            NoteMeaning::Card(card)
        }
    }

    /// `None` if the numbers are not amounts after all.
    fn expense(&self, mut amounts: Vec<Amount>) -> Option<NoteMeaning> {
        let mut used: Vec<Range<usize>> = amounts.iter().map(|amount| amount.range.clone()).collect();
        let without_amounts = text::blanked(&self.text, &used);
        let dates = self.dates(&without_amounts, Tense::Past);
        used.extend(dates.iter().map(|date| date.range.clone()));
        let blanked = text::blanked(&self.text, &used);
        if let Some(time) = time::find(&blanked) {
            used.push(time.range);
        }
        if amounts.is_empty() {
            amounts = money::find_bare(&text::blanked(&self.text, &used));
            used.extend(amounts.iter().map(|amount| amount.range.clone()));
        }
        let amount = match amounts.as_slice() {
            [] => return None,
            [amount] => amount,
            [first, .., last] => {
                let (first, last) = (&self.text[first.range.clone()], &self.text[last.range.clone()]);
                return Some(NoteMeaning::Unclear(format!("Which amount should the card have, {first} or {last}?")));
            }
        };
        let Some(currency) = amount.currency.code(self.profile.currency.as_deref()) else {
            let shown = &self.text[amount.range.clone()];
            return Some(NoteMeaning::Unclear(format!("In which currency is the amount {shown}?")));
        };
        let date = match one_day(&dates, &self.text, self.today) {
            Ok(day) => day.unwrap_or(self.today),
            Err(question) => return Some(NoteMeaning::Unclear(question)),
        };
        let what = self.title_without(&used);
        if text::letters(&what) == 0 {
            return Some(NoteMeaning::Unclear(format!("What did you spend {} {currency} on?", amount.value(currency))));
        }
        let card = self
            .card(Template::Expense, what)
            .field("amount", amount.value(currency))
            .field("currency", currency)
            .field("date", date.to_string());
        Some(NoteMeaning::Card(card))
    }

    /// Events, moves of events, tasks, and notes.
    fn plan(&self) -> NoteMeaning {
        let dates = self.dates(&self.text, Tense::Future);
        let mut used: Vec<Range<usize>> = dates.iter().map(|date| date.range.clone()).collect();
        let time = time::find(&text::blanked(&self.text, &used));
        used.extend(time.iter().map(|time| time.range.clone()));

        let rest = text::without(&self.text, &used);
        let lower_rest = text::title(&rest).to_lowercase();
        let introduction = starts_with(&lower_rest, vocabulary::TASK_INTRODUCTION);
        let bare =
            introduction.map_or(lower_rest.as_str(), |word| lower_rest[word.len()..].trim_start_matches([':', ' ']));
        let is_move = starts_with(bare, vocabulary::MOVE).is_some();
        let is_task = introduction.is_some() || starts_with(bare, vocabulary::TASK).is_some();
        let speaks_of_event = mentions(&self.lower, vocabulary::EVENT);

        if is_move {
            return self.moved(&dates, time.as_ref(), &used);
        }
        if is_task && !(speaks_of_event && time.is_some()) {
            return self.task(&dates, time.as_ref(), &used, introduction);
        }
        if speaks_of_event || !dates.is_empty() || time.is_some() {
            return self.event(&dates, time.as_ref(), &used);
        }
        self.plain_note()
    }

    fn event(&self, dates: &[FoundDate], time: Option<&FoundTime>, used: &[Range<usize>]) -> NoteMeaning {
        let mut used = used.to_vec();
        let blanked = text::blanked(&self.text, &used);
        let place = fields::place(&blanked);
        used.extend(place.iter().map(|(range, _)| range.clone()));
        let what = self.title_without(&used);
        if text::letters(&what) == 0 {
            return NoteMeaning::Unclear("What takes place then?".to_owned());
        }
        let day = match one_day(dates, &self.text, self.today) {
            Ok(Some(day)) => day,
            Ok(None) => return NoteMeaning::Unclear(format!("On which day is it: {what}?")),
            Err(question) => return NoteMeaning::Unclear(question),
        };
        let at = match clock(time) {
            Ok(at) => at,
            Err(question) => return NoteMeaning::Unclear(question),
        };
        let mut card = self.card(Template::Event, what).field("date", day.to_string());
        if let Some(at) = at {
            card = card.field("time", shown(at));
        }
        if let Some(end) = time.and_then(|time| time.end) {
            card = card.field("end", shown(end));
        }
        if let Some((_, place)) = place {
            card = card.field("place", place);
        }
        if let Some(people) = fields::people(&blanked) {
            card = card.field("people", people);
        }
        NoteMeaning::Card(card)
    }

    fn moved(&self, dates: &[FoundDate], time: Option<&FoundTime>, used: &[Range<usize>]) -> NoteMeaning {
        let title = self.title_without(used);
        let lower = title.to_lowercase();
        let verb = starts_with(&lower, vocabulary::MOVE).map_or(0, str::len);
        // Lower case may have a different length in bytes, but not before the end of a verb in ASCII.
        let what = text::title(title.get(verb..).unwrap_or(&title).trim_start().trim_start_matches("the "));
        match (one_day(dates, &self.text, self.today), clock(time)) {
            (Err(question), _) | (_, Err(question)) => NoteMeaning::Unclear(question),
            (Ok(None), Ok(None)) => NoteMeaning::Unclear(format!("To which day or time should I move it: {what}?")),
            (Ok(date), Ok(time)) => NoteMeaning::Moved(EventMove { what, date, time }),
        }
    }

    fn task(
        &self,
        dates: &[FoundDate],
        time: Option<&FoundTime>,
        used: &[Range<usize>],
        introduction: Option<&str>,
    ) -> NoteMeaning {
        let title = self.title_without(used);
        let what = match introduction.and_then(|words| title.get(words.len()..)) {
            Some(rest) => text::title(rest),
            None => title,
        };
        if text::letters(&what) == 0 {
            return NoteMeaning::Unclear("What is there to do?".to_owned());
        }
        let lower = what.to_lowercase();
        if let Some(word) = vocabulary::UNNAMED.iter().find(|word| mentions(&lower, &[word])) {
            return NoteMeaning::Unclear(format!("Who or what is \"{word}\" in \"{what}\"?"));
        }
        let day = match one_day(dates, &self.text, self.today) {
            Ok(day) => day,
            Err(question) => return NoteMeaning::Unclear(question),
        };
        let at = match clock(time) {
            Ok(at) => at,
            Err(question) => return NoteMeaning::Unclear(question),
        };
        let mut card = self.card(Template::Task, what);
        if let Some(day) = day {
            card = card.field("due", day.to_string());
        }
        if let Some(at) = at {
            card = card.field("time", shown(at));
        }
        NoteMeaning::Card(card)
    }

    fn plain_note(&self) -> NoteMeaning {
        let words = self.text.split_whitespace().count();
        let ideographs = self.text.chars().filter(|c| is_written_without_spaces(*c)).count();
        if words < 3 && ideographs < 5 {
            return NoteMeaning::Unclear(format!("What should I keep about \"{}\"?", self.text.trim()));
        }
        let first_line = self.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let title = text::shortened(&text::title(first_line), 60);
        NoteMeaning::Card(self.card(Template::Note, title).field("text", self.text.trim()))
    }

    /// The title without the ranges in `used` and the words that join them to it.
    fn title_without(&self, used: &[Range<usize>]) -> String {
        let ranges: Vec<Range<usize>> =
            used.iter().map(|range| fields::with_joining_words(&self.text, range.clone())).collect();
        text::shortened(&text::title(&text::without(&self.text, &ranges)), 80)
    }
}

/// The day that the note names, or a question if there are several.
fn one_day(dates: &[FoundDate], text: &str, today: Date) -> Result<Option<Date>, String> {
    let mut days: Vec<Date> = Vec::new();
    for FoundDate { range, day } in dates {
        let written = &text[range.clone()];
        match *day {
            DateMeaning::Is(date) => days.push(date),
            DateMeaning::Either(a, b) => return Err(format!("Does {written} mean {a} or {b}?")),
            DateMeaning::Impossible => return Err(format!("{written} is not in the calendar. Which day is it?")),
        }
    }
    // "Friday, 16 January" names one day twice.
    days.dedup();
    match days.as_slice() {
        [] => Ok(None),
        [day] => Ok(Some(*day)),
        [first, .., last] if *first == today => Ok(Some(*last)),
        [first, .., last] => Err(format!("Which day is it, {first} or {last}?")),
    }
}

fn clock(time: Option<&FoundTime>) -> Result<Option<Time>, String> {
    match time.map(|time| time.clock) {
        None => Ok(None),
        Some(TimeMeaning::Is(time)) => Ok(Some(time)),
        Some(TimeMeaning::MorningOrEvening(hour)) => {
            Err(format!("Is that {hour} in the morning or {hour} in the evening?"))
        }
        Some(TimeMeaning::Impossible) => Err("There is no such time of day. At what time is it?".to_owned()),
    }
}

fn shown(time: Time) -> String {
    time.strftime("%H:%M").to_string()
}

/// The name in a note about a person.
fn contact_name(rest: &str) -> String {
    let cleaned = rest.replace("'s ", " ").replace("’s ", " ").replace([':', ',', ';', '(', ')', '：', '，'], " ");
    let mut words: Vec<&str> = cleaned.split_whitespace().collect();
    words.retain(|word| !vocabulary::NAME_INTRODUCTION.contains(&word.to_lowercase().as_str()));
    let name = words.join(" ");
    let name = vocabulary::CONTACT
        .iter()
        .filter(|word| word.chars().any(is_written_without_spaces))
        .fold(name, |name, word| name.replace(word, ""));
    text::title(name.trim_matches(|c: char| c.is_whitespace() || matches!(c, '的' | '是')))
}

#[cfg(test)]
mod tests {
    use super::super::DateOrder;
    use super::*;

    /// A Monday.
    const TODAY: Date = jiff::civil::date(2026, 1, 12);

    fn short(note: &str, profile: &Profile) -> String {
        match read(note, TODAY, profile) {
            NoteMeaning::Nothing(reason) => format!("nothing: {reason}"),
            NoteMeaning::Unclear(question) => format!("? {question}"),
            NoteMeaning::Card(card) | NoteMeaning::Changed(card) => {
                let fields: Vec<String> = card.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("{} | {} | {}", card.template, card.title, fields.join(" "))
            }
            NoteMeaning::Moved(change) => format!("move {} {:?} {:?}", change.what, change.date, change.time),
        }
    }

    #[test]
    fn notes_become_cards() {
        for (note, expected) in [
            ("Dentist on Wednesday at 15:30", "event | Dentist | date=2026-01-14 time=15:30"),
            (
                "Lunch with Ana and Bo at Café Luna tomorrow at noon",
                "event | Lunch with Ana and Bo | date=2026-01-13 people=Ana and Bo place=Café Luna time=12:00",
            ),
            ("明天下午3点和田中开会", "event | 和田中开会 | date=2026-01-13 time=15:00"),
            ("1月20日 15時 歯医者", "event | 歯医者 | date=2026-01-20 time=15:00"),
            ("اجتماع مع ليلى غدا الساعة 15:00", "event | اجتماع مع ليلى | date=2026-01-13 time=15:00"),
            ("פגישה עם דנה מחר בשעה 10:00", "event | פגישה עם דנה | date=2026-01-13 time=10:00"),
            ("🎂 Party for Mia on Saturday at 18:00", "event | 🎂 Party for Mia | date=2026-01-17 time=18:00"),
            ("Buy milk and bread tomorrow", "task | Buy milk and bread | due=2026-01-13"),
            ("remember to renew the passport by March 1", "task | Renew the passport | due=2026-03-01"),
            ("Call Ana about the lease", "task | Call Ana about the lease | "),
            ("Lunch, 14.20 EUR", "expense | Lunch | amount=14.20 currency=EUR date=2026-01-12"),
            (
                "Paid $1,234.50 for the new laptop yesterday",
                "expense | Paid for the new laptop | amount=1234.50 currency=USD date=2026-01-11",
            ),
            ("昼食 1,200円", "expense | 昼食 | amount=1200 currency=JPY date=2026-01-12"),
            (
                "Zoë Müller: +49 30 1234567, zoe@example.com",
                "contact | Zoë Müller | email=zoe@example.com phone=+49 30 1234567",
            ),
            (
                "The river froze over for the first time in years",
                "note | The river froze over for the first time in years | text=The river froze over for the first time in years",
            ),
        ] {
            assert_eq!(short(note, &Profile::default()), expected, "{note}");
        }
    }

    #[test]
    fn ambiguous_notes_become_questions() {
        for (note, question) in [
            ("Meeting with Ana", "? On which day is it: Meeting with Ana?"),
            ("Lunch on 03/04", "? Does 03/04 mean 2026-04-03 or 2026-03-04?"),
            ("Meeting on February 30", "? February 30 is not in the calendar. Which day is it?"),
            ("Dentist tomorrow at 7", "? Is that 7 in the morning or 7 in the evening?"),
            ("Dinner on Tuesday or Wednesday", "? Which day is it, 2026-01-13 or 2026-01-14?"),
            ("Paid 30 for parking", "? In which currency is the amount 30?"),
            ("Taxi 12 EUR or 15 EUR", "? Which amount should the card have, 12 EUR or 15 EUR?"),
            ("Call him tomorrow", "? Who or what is \"him\" in \"Call him\"?"),
            ("New contact: Ana López", "? What is the phone number or email address of Ana López?"),
            ("+49 30 1234567", "? Whose number or address is this?"),
            ("blue folder", "? What should I keep about \"blue folder\"?"),
            ("tomorrow at 10:00", "? What takes place then?"),
        ] {
            assert_eq!(short(note, &Profile::default()), question, "{note}");
        }
    }

    #[test]
    fn the_profile_sets_date_order_and_currency() {
        let profile = Profile { date_order: Some(DateOrder::Dmy), currency: Some("CHF".to_owned()) };
        assert_eq!(short("Lunch on 03/04", &profile), "event | Lunch | date=2026-04-03");
        assert_eq!(
            short("Paid 30 for parking", &profile),
            "expense | Paid for parking | amount=30.00 currency=CHF date=2026-01-12"
        );
    }

    #[test]
    fn changes_are_distinguished_from_new_cards() {
        assert!(
            matches!(read("Ana's new number is +34 600 111 222", TODAY, &Profile::default()), NoteMeaning::Changed(card) if card.title == "Ana")
        );
        assert_eq!(
            short("Move the dentist to Friday at 16:00", &Profile::default()),
            "move Dentist Some(2026-01-16) Some(16:00:00)"
        );
    }
}
