/** What was typed, for the API to judge: null where there is nothing, a number where it is one. */
export function amountIn(text: string): number | string | null {
  if (text.trim() === '') return null
  const amount = Number(text)
  return Number.isFinite(amount) ? amount : text
}

/** `a, b` as a list. */
export const words = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
