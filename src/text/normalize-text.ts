/**
 * Combining marks kept per character: more than any script uses, as in the Stream-Safe Text Format (Unicode Annex #15).
 */
const MAX_MARKS = 30
/** Combining marks, and the half-width sound marks of Japanese, which decompose into them. */
const MARK = '[\\p{M}\\uff9e\\uff9f]'
// Matches only runs of four or more marks: ordinary text is full of shorter ones. Linear in the length of a run.
const RUN_OF_MARKS = new RegExp(`(${MARK}{4,${MAX_MARKS}})${MARK}*`, 'gu')

/**
 * Normalizes `text`, dropping combining marks after the thirtieth in a row. Sorting a run of marks takes quadratic
 * time, so an unbounded run would block the thread for seconds.
 */
export function normalized(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return (text.length <= MAX_MARKS ? text : text.replace(RUN_OF_MARKS, '$1')).normalize(form)
}
