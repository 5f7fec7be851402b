/**
 * The degree of interest of a place: a sum of named terms, each a pure function, mapped to a weight.
 *
 *     interest = attention + change + history + focus + query + landmark + referred
 *     weight   = (1 − e^(−interest)) / (1 − e^(−most))
 *
 * `most` is the highest interest in the context: the place that has it weighs 1, and a weight of 0.5 is half as much.
 *
 * It is the degree-of-interest model of Mylyn (Kersten & Murphy, "Mylar: a degree-of-interest model for IDEs", AOSD
 * 2005; "Using task context to improve programmer productivity", FSE 2006): places that a person looks at or edits gain
 * interest, and interest decays. `landmark` and `focus` are the a-priori importance and the distance term of Furnas
 * ("Generalized fisheye views", CHI 1986). The coefficients are Gazeway's own: a recent minute of attention (1.5)
 * outweighs an uncommitted change (1.2), and that outweighs any commit history (0.6). The caller's focus (2) and query
 * (3) outweigh all.
 */

const ATTENTION = 1.5
const CHANGE = 1.2
const HISTORY = 0.6
const FOCUS = 2
const QUERY = 3
const LANDMARK = 0.25
const REFERRED = 0.2

/** Attention and the age of a change lose half of their interest in a day. */
export const HALF_LIFE_MS = 24 * 3_600_000

/** A commit counts half as much as one ten commits newer. Mylyn also decays by events rather than by time. */
const COMMIT_HALF_LIFE = 10

/**
 * The part of 1 that is left after `ageMs`: 2^(−age / half-life). Negative ages, from clock differences, count as 0.
 */
export function decay(ageMs: number): number {
  return 2 ** (-Math.max(0, ageMs) / HALF_LIFE_MS)
}

/** Milliseconds of attention, each visit decayed by its own age. */
export function decayedDwell(visits: ReadonlyArray<{ dwellMs: number; ageMs: number }>): number {
  return visits.reduce((sum, visit) => sum + Math.max(0, visit.dwellMs) * decay(visit.ageMs), 0)
}

/**
 * Interest from attention: 1.5 · ln(1 + s) / ln(1 + 60) for `s` decayed seconds. A minute gives 1.5, and a tenth minute
 * adds little: dwell times are heavy-tailed, so their logarithms are compared.
 */
export function attentionInterest(decayedDwellMs: number): number {
  return (ATTENTION * Math.log1p(Math.max(0, decayedDwellMs) / 1000)) / Math.log1p(60)
}

/** Interest from an uncommitted change: 1.2 when new, falling to 0.6 while it stays uncommitted. */
export function changeInterest(ageMs: number): number {
  return CHANGE * (0.5 + 0.5 * decay(ageMs))
}

/**
 * Interest from recent commits: 0.6 · ln(1 + Σ 2^(−rank / 10)) / ln(1 + 10).
 *
 * @param ranks how many commits ago each change was; 0 is the newest commit
 */
export function historyInterest(ranks: readonly number[]): number {
  const recent = ranks.reduce((sum, rank) => sum + 2 ** (-Math.max(0, rank) / COMMIT_HALF_LIFE), 0)
  return (HISTORY * Math.log1p(recent)) / Math.log1p(10)
}

/**
 * Interest from nearness to the focus: 2 · 4^(−distance). Each neighbour has 0.5, so that a large folder does not hide
 * the places with attention.
 *
 * @param distance 0 is the focus itself, 1 the files of its folder, and so on; null is too far
 */
export function focusInterest(distance: number | null): number {
  return distance === null ? 0 : FOCUS * 4 ** -Math.max(0, distance)
}

/** Interest from the query: 3 · match; `match` is how well the place answers the query (0–1). */
export function queryInterest(match: number): number {
  return QUERY * Math.min(1, Math.max(0, match))
}

/** Signals that make one place interesting. */
export interface InterestTerms {
  /** Decayed milliseconds, from {@link decayedDwell}. */
  dwellMs: number
  /** Age of the uncommitted change; null when there is none. */
  changeAgeMs: number | null
  /** See {@link historyInterest}. */
  commitRanks: readonly number[]
  /** See {@link focusInterest}. */
  focusDistance: number | null
  /** 0–1, see {@link queryInterest}. */
  match: number
  /** Files that refer to it, relative to the most referred file: 0–1. Known only without other signals. */
  referred: number
  /** A file that describes the project (README, manifest). */
  landmark: boolean
}

/** Sums the terms. The result is 0 or more. */
export function interestOf(terms: InterestTerms): number {
  return (
    attentionInterest(terms.dwellMs) +
    (terms.changeAgeMs === null ? 0 : changeInterest(terms.changeAgeMs)) +
    historyInterest(terms.commitRanks) +
    focusInterest(terms.focusDistance) +
    queryInterest(terms.match) +
    (terms.landmark ? LANDMARK : 0) +
    REFERRED * terms.referred
  )
}

/**
 * Maps an interest to a weight between 0 and 1, with three decimals.
 *
 * @param most the highest interest of the context, which weighs 1; without it, no finite interest does
 */
export function weightOf(interest: number, most = Number.POSITIVE_INFINITY): number {
  if (interest <= 0) return 0
  return Math.round(((1 - Math.exp(-interest)) / (1 - Math.exp(-most))) * 1000) / 1000
}
