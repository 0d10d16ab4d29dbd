use strsim::osa_distance;

/// The most similar name, if one is similar enough.
pub fn similar<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let bound = (name.chars().count() / 3).clamp(1, 3);
    let lower = name.to_lowercase();
    names
        .map(|known| (osa_distance(&lower, &known.to_lowercase()), known))
        .filter(|(distance, _)| *distance <= bound)
        .min()
        .map(|(_, known)| known)
}
