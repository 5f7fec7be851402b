import { isObject } from '../../text/json.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { CUSTOM_PARAMETERS, customDescription } from './custom-tools.ts'
import { read, unsupported, wrongType } from './request-reader.ts'

/**
 * Tool fields of a Messages request, from those of a chat request. A custom tool is a function with one text.
 *
 * @throws GazewayError `invalid_request` naming what Messages cannot express
 */
export function messagesTools({ tools: given, tool_choice: choice, parallel_tool_calls }: Fields): Fields {
  const tools = read.objects(given, 'tools').map(toTool)
  const chosen = toChoice(choice)
  const parallel = read.optionalBoolean(parallel_tool_calls, 'parallel_tool_calls')
  if (tools.length === 0) return {}
  if (parallel !== false || chosen?.type === 'none') return { tools, tool_choice: chosen }
  return { tools, tool_choice: { type: 'auto', ...chosen, disable_parallel_tool_use: true } }
}

function toTool({ type: given, function: offered, custom, cache_control }: Fields, index: number): Fields {
  const path = `tools.${index}`
  const type = read.text(given, `${path}.type`)
  if (type === 'custom') {
    const tool = read.object(custom, `${path}.custom`)
    const description = customDescription(tool, `${path}.custom`)
    const name = read.text(tool.name, `${path}.custom.name`)
    return { name, input_schema: CUSTOM_PARAMETERS, ...(description !== '' && { description }) }
  }
  if (type !== 'function') throw unsupported(`${path}.type`, `Messages has no tool type ${JSON.stringify(type)}`)
  const { name, description, parameters, strict } = read.object(offered, `${path}.function`)
  const input_schema = parameters ?? { type: 'object', properties: {} }
  const named = read.text(name, `${path}.function.name`)
  return { name: named, input_schema, ...present({ description, strict, cache_control }) }
}

function toChoice(choice: unknown): Fields | undefined {
  if (choice === 'required') return { type: 'any' }
  if (choice === 'auto' || choice === 'none') return { type: choice }
  if ((choice ?? null) === null) return undefined
  if (!isObject(choice)) throw wrongType('tool_choice', '"auto", "none", "required" or an object')
  const type = read.text(choice.type, 'tool_choice.type')
  if (type !== 'function' && type !== 'custom')
    throw unsupported('tool_choice', `Messages has no tool choice of type ${JSON.stringify(type)}`)
  const { name } = read.object(choice[type], `tool_choice.${type}`)
  return { type: 'tool', name: read.text(name, `tool_choice.${type}.name`) }
}
