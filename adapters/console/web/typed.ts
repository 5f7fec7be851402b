/** Parses an amount: null for empty text, a number where possible, else the text for the API to refuse. */
export function amountIn(text: string): number | string | null {
  if (text.trim() === '') return null
  const amount = Number(text)
  return Number.isFinite(amount) ? amount : text
}

/** Splits `a, b` into a list. */
export const words = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)

/** Splits text into lines, without blank ones. */
export const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** Formats an amount or a count for a field; null is empty. */
export const amountText = (amount: number | null): string => (amount === null ? '' : String(amount))

/** Converts a local date and time to UTC; invalid text goes to the API, which refuses it. */
export function timeIn(text: string): string | null {
  if (text === '') return null
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? text : new Date(ms).toISOString()
}

/** Formats a time for a date and time field, to the minute in the reader's zone; null is empty. @param at RFC 3339, or ms */
export function timeText(at: string | number | null): string {
  if (at === null) return ''
  const ms = new Date(at).getTime()
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
