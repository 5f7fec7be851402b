import { createHash } from 'node:crypto'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { toJsonSchema } from './gemini-schema.ts'
import { type Note, noteUnread } from './reported-changes.ts'
import { read, unsupported, wrongType } from './request-reader.ts'

/** Names of functions in chat completions. Google's also have full stops, colons, and more letters. */
const CHAT_NAME = /^[\w-]{1,64}$/
const LONGEST_NAME = 64
const DECLARATIONS = 'functionDeclarations'
const DECLARED: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'parametersJsonSchema'])
const CONFIG: ReadonlySet<string> = new Set(['functionCallingConfig'])

/** Name in chat of a function. One that chat completions does not take ends in a hash of the whole. */
export function chatFunctionName(name: string): string {
  if (CHAT_NAME.test(name)) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.replace(/[^\w-]/g, '_').slice(0, LONGEST_NAME - 9)}_${hash}`
}

/** Functions that a Gemini request offers, as a list of objects with a `name`. */
export const offeredFunctions = (tools: unknown): Fields[] =>
  objectsOrNone(tools).flatMap((tool) => objectsOrNone(tool[DECLARATIONS]))

/** Creates a lookup from a function's name in chat to its name in the Gemini request. */
export function calledFunctions(tools: unknown): (chatName: string) => string {
  const names = new Map(offeredFunctions(tools).map(({ name }) => [chatFunctionName(String(name)), String(name)]))
  return (chatName) => names.get(chatName) ?? chatName
}

/**
 * Tool fields of a chat request, from those of a Gemini request. Functions keep their order.
 *
 * @throws GazewayError `invalid_request` naming what chat completions cannot express
 */
export function chatTools({ tools: given, toolConfig }: Fields, note: Note): Fields {
  const offered = read.objects(given, 'tools').flatMap((tool, index) => functionsOf(tool, `tools.${index}`, note))
  const config = read.fields(toolConfig, 'toolConfig')
  noteUnread(config, CONFIG, note, 'toolConfig')
  const { mode, allowed } = callingOf(config)
  if (offered.length === 0) return {}
  const isChosen = allowed.length > 0 && (mode === 'ANY' || mode === 'VALIDATED')
  const chosen = new Set<unknown>(allowed)
  const tools = isChosen ? offered.filter(({ name }) => chosen.has(name)) : offered
  if (tools.length < offered.length) note('tools', 'rewritten')
  if (mode === 'VALIDATED') note('toolConfig.functionCallingConfig.mode', 'rewritten')
  return { tools: tools.map(({ tool }) => tool), tool_choice: choiceOf(mode, tools) }
}

/** A function of a request, by the name that its client knows. */
interface Offered {
  name: string
  tool: Fields
}

/** Reads a tool: a list of functions, or a service of Google's such as `googleSearch`. */
function functionsOf(tool: Fields, path: string, note: Note): Offered[] {
  for (const [name, value] of Object.entries(tool))
    if (name !== DECLARATIONS && (value ?? null) !== null)
      throw unsupported(`${path}.${name}`, `this upstream does not have Google's tool ${name}; omit it`)
  const at = `${path}.${DECLARATIONS}`
  return read.objects(tool[DECLARATIONS], at).map((declared, index) => toFunction(declared, `${at}.${index}`, note))
}

function toFunction(declared: Fields, path: string, note: Note): Offered {
  const { name: given, description, parameters, parametersJsonSchema } = declared
  const name = read.text(given, `${path}.name`)
  noteUnread(declared, DECLARED, note, path)
  const schema =
    (parameters ?? null) === null
      ? (parametersJsonSchema ?? { type: 'object', properties: {} })
      : toJsonSchema(parameters, `${path}.parameters`)
  const described = read.optionalText(description, `${path}.description`)
  const called = present({ name: chatFunctionName(name), description: described, parameters: schema })
  return { name, tool: { type: 'function', function: called } }
}

function callingOf(config: Fields): { mode: string; allowed: unknown[] } {
  const at = 'toolConfig.functionCallingConfig'
  const { mode: given, allowedFunctionNames } = read.fields(config.functionCallingConfig, at)
  const mode = read.optionalText(given, `${at}.mode`) ?? 'MODE_UNSPECIFIED'
  if (!MODES.has(mode)) throw wrongType(`${at}.mode`, '"AUTO", "ANY", "NONE" or "VALIDATED"')
  return { mode, allowed: read.list(allowedFunctionNames, `${at}.allowedFunctionNames`) }
}

/** Modes, and the choice that each is in chat completions. */
const MODES: ReadonlyMap<string, string | undefined> = new Map([
  ['MODE_UNSPECIFIED', undefined],
  ['AUTO', 'auto'],
  // With the schemas of functions held to. Chat completions says so for each function, and few upstreams take it.
  ['VALIDATED', 'auto'],
  ['ANY', 'required'],
  ['NONE', 'none'],
])

function choiceOf(mode: string, tools: readonly Offered[]): unknown {
  const [only, ...others] = tools
  if (mode !== 'ANY' || only === undefined || others.length > 0) return MODES.get(mode)
  return { type: 'function', function: { name: chatFunctionName(only.name) } }
}
