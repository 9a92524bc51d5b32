//! The binding of a directory of skills: one binding for each skill.

use std::collections::BTreeMap;
use std::path::Path;

use evalsuite_loader::names;
use evalsuite_schema::discovery::skills_below;
use syn::LitStr;

use crate::binding::{Binding, Problem};

/// The bindings of the skills below `directory`, which the entry of a binding names; the binding itself if the directory has none, or is a
/// suite.
///
/// # Errors
///
/// If two skills would make one module, or all of them would have the name in the binding.
pub fn of_each_skill(binding: Binding, directory: &Path) -> Result<Vec<Binding>, Box<Problem>> {
    let skills = skills_below(directory);
    if skills.is_empty() {
        return Ok(vec![binding]);
    }
    if let Some(name) = &binding.name {
        let message = format!("`name` is that of one module, and `{}` has a skill for each", binding.entry.value());
        return Err(Box::new(Problem::argument(name.span(), message)));
    }
    let mut modules: BTreeMap<String, &String> = BTreeMap::new();
    for skill in &skills {
        if let Some(first) = modules.insert(names::segment(skill), skill) {
            let module = names::segment(skill);
            let message = format!(
                "the skills `{first}` and `{skill}` both make the module `{module}`; include each of them by itself, one with `name`"
            );
            return Err(Box::new(Problem::argument(binding.entry.span(), message)));
        }
    }
    let written = binding.entry.value();
    let entry = |skill: &String| {
        let path = format!("{}/{skill}", written.trim_end_matches('/'));
        Binding { entry: LitStr::new(&path, binding.entry.span()), ..binding.clone() }
    };
    Ok(skills.iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn bindings(skills: &[&str], name: Option<&str>) -> Result<Vec<String>, String> {
        let root = tempfile::tempdir().unwrap();
        for skill in skills {
            fs::create_dir_all(root.path().join(skill).join("evals")).unwrap();
            fs::write(root.path().join(skill).join("SKILL.md"), "x").unwrap();
            fs::write(root.path().join(skill).join("evals/evals.json"), "x").unwrap();
        }
        let mut binding = Binding::new(syn::parse_quote!("skills/"));
        binding.name = name.map(|name| syn::parse_str(name).unwrap());
        let bindings = of_each_skill(binding, root.path()).map_err(|problem| problem.text())?;
        Ok(bindings.iter().map(|binding| binding.entry.value()).collect())
    }

    #[test]
    fn every_skill_is_a_suite_of_its_own() {
        assert_eq!(bindings(&["pdf-forms", "csv"], None).unwrap(), ["skills/csv", "skills/pdf-forms"]);
        assert_eq!(bindings(&[], None).unwrap(), ["skills/"], "any other suite");
        assert_eq!(bindings(&[], Some("x")).unwrap(), ["skills/"]);
    }

    #[test]
    fn two_modules_of_one_name_are_refused() {
        let error = bindings(&["a-b", "a.b"], None).unwrap_err();
        assert!(error.contains("the skills `a-b` and `a.b` both make the module `a_b`"), "{error}");
        let error = bindings(&["a", "b"], Some("all")).unwrap_err();
        assert!(error.contains("`name` is that of one module"), "{error}");
    }
}
