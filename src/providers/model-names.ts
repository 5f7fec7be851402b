/** Suffixes by which providers name a version of a model: dates, and `latest`. */
const VERSION = /(?:[-@:](?:latest|\d{4,8}|\d{4}-\d{2}-\d{2}))+$/

/**
 * Tells whether an answer names another model than the one that was asked, and not only a version of it.
 *
 * @example isOtherModel('gpt-5-2025-08-07', 'gpt-5') // false
 */
export const isOtherModel = (answered: string, asked: string): boolean =>
  answered !== asked && baseOf(answered) !== baseOf(asked)

/** Name without its version and the path before it, which some providers omit. */
const baseOf = (id: string): string =>
  id
    .slice(id.lastIndexOf('/') + 1)
    .replace(VERSION, '')
    .toLowerCase()
