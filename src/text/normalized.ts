/** Marks that one character keeps: more than any script writes, as in the Stream-Safe Text Format (Unicode Annex #15). */
const MOST_MARKS = 30
/** Marks, and the half-width sound marks of Japanese, which become some. */
const MARK = '[\\p{M}\\uff9e\\uff9f]'
// A run is looked at once, whatever its length. Those of one to three marks, which texts are full of, are none to take apart.
const RUN_OF_MARKS = new RegExp(`(${MARK}{4,${MOST_MARKS}})${MARK}*`, 'gu')

/**
 * `text` in a normal form of Unicode, without the marks that come after the thirtieth in a row: putting a run of marks in
 * order takes time that grows with the square of its length, seconds for 128 KiB.
 */
export function normalized(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return (text.length <= MOST_MARKS ? text : text.replace(RUN_OF_MARKS, '$1')).normalize(form)
}
