/** Names that clouds give to models, also those of AWS with slashes. */
const NAME = /^[\w.:@~+-]+(?:\/[\w.:@~+-]+)*$/
const DOTS_ALONE = /(?:^|\/)\.+(?:\/|$)/

/**
 * The name of a model as one segment of a path. Null for one that no model has: a dot segment, or signs that lead
 * elsewhere once somebody on the way decodes them.
 *
 * @example pathSegment('team/gpt-5') // 'team%2Fgpt-5'
 * @example pathSegment('..') // null
 */
export const pathSegment = (name: string): string | null =>
  NAME.test(name) && !DOTS_ALONE.test(name) ? encodeURIComponent(name) : null
