import { isObject, parseJson } from '../../text/json.ts'

/** Tells whether the arguments of a call begin as JSON that was encoded twice, as some servers write it. */
export const isWrapped = (args: string): boolean => /^\s*"/.test(args)

/** Arguments of a call, decoded where they were encoded twice. Any others are returned as they are. */
export function unwrapped(args: string): string {
  const text = isWrapped(args) ? parseJson(args) : undefined
  return typeof text === 'string' && isObject(parseJson(text)) ? text : args
}
