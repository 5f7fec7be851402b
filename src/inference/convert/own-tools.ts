import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { exactJson } from './exact-json.ts'
import { read, textOrJson } from './request-reader.ts'

/** A tool of the Responses API that the client runs, and the model knows without a schema. */
interface OwnTool {
  description: string
  properties: Fields
  required: readonly string[]
  /** Field of its calls that holds what is to be done. */
  field: 'action' | 'operation'
  /** Fields of that object which the model does not write. */
  fixed: Fields
}

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const whole = { type: 'integer' }

/** Such tools by type, as the reference documents their calls (https://platform.openai.com/docs/api-reference/responses). */
const OWN_TOOLS: Readonly<Record<string, OwnTool>> = {
  local_shell: {
    description: 'Runs a command on the computer of the user: program and arguments, without a shell around them.',
    properties: {
      command: texts,
      working_directory: text,
      timeout_ms: whole,
      env: { type: 'object', additionalProperties: text },
    },
    required: ['command'],
    field: 'action',
    fixed: { type: 'exec', env: {} },
  },
  shell: {
    description: 'Runs shell commands on the computer of the user, and returns what each has written.',
    properties: { commands: texts, timeout_ms: whole, max_output_length: whole },
    required: ['commands'],
    field: 'action',
    fixed: {},
  },
  apply_patch: {
    description:
      'Creates, updates or deletes a file. `diff` is in the V4A format: lines of a hunk after `@@`, each beginning with a ' +
      'space, `-` or `+`; for a new file each line begins with `+`.',
    properties: { type: { ...text, enum: ['create_file', 'update_file', 'delete_file'] }, path: text, diff: text },
    required: ['type', 'path'],
    field: 'operation',
    fixed: {},
  },
}

/** Tells whether a tool of a Responses request is one that the client runs. A shell in a container is not. */
export function isOwnTool({ type, environment }: Fields): boolean {
  const place = fieldsOrNone(environment).type ?? 'local'
  return Object.hasOwn(OWN_TOOLS, String(type)) && place === 'local'
}

/** Function of chat completions that stands for such a tool. */
export function ownFunction(type: string): Fields {
  const { description, properties, required } = OWN_TOOLS[type] as OwnTool
  return { description, parameters: { type: 'object', properties, required } }
}

/** A call of such a tool, or its result, as that of a function. Any other item is returned as it is. */
export function asFunctionItem(item: Fields): Fields {
  const kind = String(item.type)
  const called = kind.endsWith('_call') ? kind.slice(0, -'_call'.length) : ''
  if (Object.hasOwn(OWN_TOOLS, called)) {
    const { field } = OWN_TOOLS[called] as OwnTool
    const { type, ...rest } = read.fields(item[field], field)
    const written = field === 'operation' ? { type, ...rest } : rest
    return { type: 'function_call', call_id: item.call_id, name: called, arguments: exactJson(written) }
  }
  const answered = kind.endsWith('_call_output') ? kind.slice(0, -'_call_output'.length) : ''
  if (!Object.hasOwn(OWN_TOOLS, answered)) return item
  const said = textOrJson(item.output)
  const output = item.status === 'failed' ? `Failed. ${said}` : said
  // The reference gives the output of a local shell the id of its call in `id`.
  return { type: 'function_call_output', call_id: item.call_id ?? item.id, output }
}

/**
 * Fields of the item for a call of such a tool. Null when the model omitted what it needs, so that nobody may run it.
 *
 * @param written arguments of its function
 */
export function ownCallFields(type: string, written: Fields | null): Fields | null {
  const { field, fixed, required } = OWN_TOOLS[type] as OwnTool
  if (written === null || required.some((name) => (written[name] ?? null) === null)) return null
  return { [field]: { ...fixed, ...present(written) } }
}

/** Fields of a call before its arguments are complete. */
export const begunCallFields = (type: string): Fields => {
  const { field, fixed, required } = OWN_TOOLS[type] as OwnTool
  return {
    [field]: { ...fixed, ...Object.fromEntries(required.map((name) => [name, name.startsWith('command') ? [] : ''])) },
  }
}
