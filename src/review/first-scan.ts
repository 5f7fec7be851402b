/** Share of the changed lines that a first scan covers, in percent. */
const SCANNED_PERCENT = 80

/**
 * Computes the length of the first scan. Null while it lasts. Reviewers with a short one found defects later (Uwano, Nakamura,
 * Monden and Matsumoto, ETRA 2006).
 *
 * ```formula
 * first scan: the least active time after which 80 % of the changed lines had been in view for 250 ms
 * ```
 *
 * @param scanned active time after which each changed line had been in view that long, in ms; null for not yet
 */
export function firstScanOf(scanned: readonly (number | null)[]): number | null {
  const times = scanned.flatMap((time) => time ?? []).sort((one, other) => one - other)
  const last = times[Math.ceil((scanned.length * SCANNED_PERCENT) / 100) - 1]
  return last === undefined ? null : Math.round(last)
}
