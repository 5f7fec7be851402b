import { isObject, parseJson } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { read, unsupported } from './request-reader.ts'

/** Parameters of the function that stands for a custom tool, whose input is plain text. */
export const CUSTOM_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text' } },
  required: ['input'],
  additionalProperties: false,
}

/**
 * Description of the function that stands for a custom tool, with its grammar in words.
 *
 * @param path of the tool in the request
 * @throws GazewayError `invalid_request` for another format than text or a grammar
 */
export function customDescription({ description, format }: Fields, path: string): string {
  const own = read.optionalText(description, `${path}.description`) ?? ''
  return [own, grammarIn(format, `${path}.format`)].filter(Boolean).join('\n\n')
}

/** Describes the grammar of a custom tool. Empty when it takes any text. Chat completions has it in `grammar`. */
function grammarIn(format: unknown, path: string): string {
  const { type: given, grammar, ...own } = read.fields(format, path)
  const type = read.optionalText(given, `${path}.type`) ?? 'text'
  if (type === 'text') return ''
  if (type !== 'grammar') throw unsupported(`${path}.type`, `a function has no counterpart of the format ${type}`)
  const { syntax, definition } = isObject(grammar) ? grammar : own
  return `The input follows this grammar (${read.text(syntax, `${path}.syntax`)}):\n${read.text(definition, `${path}.definition`)}`
}

/** Wraps the input of a custom tool as arguments of its function. */
export const toCustomCall = (input: string): string => JSON.stringify({ input })

/**
 * Reads the input of a custom tool from the arguments of its function. Truncated arguments are returned as they are.
 */
export function fromCustomCall(args: string): string {
  const parsed = parseJson(args)
  return isObject(parsed) && typeof parsed.input === 'string' ? parsed.input : args
}

/** Names of the custom tools of a chat request. */
export const customNames = ({ tools }: Fields): ReadonlySet<unknown> =>
  new Set(objectsOrNone(tools).flatMap(({ type, custom }) => (type === 'custom' ? [fieldsOrNone(custom).name] : [])))
