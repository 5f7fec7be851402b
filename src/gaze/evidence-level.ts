/**
 * Levels of evidence, lowest first. `seen` is the word of a page or an editor and never means a person; `plausible` looks
 * like a person's; `present` has a passkey's user verification. `live` and `attested` are names for later.
 */
export const LEVELS = ['none', 'seen', 'plausible', 'present', 'live', 'attested'] as const
type AnyLevel = (typeof LEVELS)[number]

/** Tells whether a level is at least another one. */
export const reaches = (level: AnyLevel, least: AnyLevel): boolean => LEVELS.indexOf(level) >= LEVELS.indexOf(least)

/** Returns the lower one of two levels. */
export const lowest = (one: AnyLevel, other: AnyLevel): AnyLevel => (reaches(one, other) ? other : one)
