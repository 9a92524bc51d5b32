#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Player {
    pub name: &'static str,
    pub points: u32,
}

/// The players, most points first; equal ones by name.
pub fn ranking(mut players: Vec<Player>) -> Vec<Player> {
    players.sort_by(|a, b| a.points.cmp(&b.points).then_with(|| a.name.cmp(b.name)));
    players
}

#[cfg(test)]
mod tests;
