import { message as anthropicMessage } from './anthropic.ts'
import { THOUGHT } from './thinking.ts'
import { type Behaviour, json, response } from './upstream.ts'

type Fields = Record<string, unknown>

const list = (value: unknown): Fields[] => (Array.isArray(value) ? value : [])

/** Answers Messages, and refuses a request for the given reason. */
export const messagesUnless =
  (reason: (body: Fields) => string | null): Behaviour =>
  (reply, request) => {
    const message = reason(request.body as Fields)
    const refusal = { type: 'error', error: { type: 'invalid_request_error', message } }
    return json(message === null ? 200 : 400, message === null ? anthropicMessage('Hello') : refusal)(reply, request)
  }

/** Claude Opus 4.7 and later think as much as they like: https://docs.claude.com/en/docs/build-with-claude/adaptive-thinking */
export const adaptiveAlone = messagesUnless(({ thinking }) =>
  (thinking as Fields | undefined)?.type === 'enabled'
    ? '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
    : null,
)

/** Claude Haiku 4.5 takes no effort. */
export const noClaudeEffort = messagesUnless(({ output_config: config }) =>
  (config as Fields | undefined)?.effort === undefined ? null : 'This model does not support the effort parameter.',
)

/** Claude 3.5 does not think. */
export const noClaudeThinking = messagesUnless(({ thinking }) =>
  thinking === undefined ? null : 'adaptive thinking is not supported on this model',
)

/**
 * OpenAI's Responses API without stored state: reasoning is bound to the account, and belongs to the items after it
 * (https://platform.openai.com/docs/guides/reasoning; https://github.com/openai/codex/issues/8145).
 */
export const openAiItems: Behaviour = (reply, request) => {
  const input = list((request.body as Fields).input)
  const reasoning = input.filter(({ type }) => type === 'reasoning')
  const foreign = reasoning.find(({ encrypted_content: content }) => content !== 'own')
  const last = input.at(-1)
  const call = input.find(({ type, id }) => type === 'function_call' && id !== undefined)
  const refuse = (message: string, code: string | null = null) =>
    json(400, { error: { message, type: 'invalid_request_error', param: null, code } })(reply, request)
  if (foreign)
    return refuse(
      `The encrypted content for item ${foreign.id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      'invalid_encrypted_content',
    )
  if (last?.type === 'reasoning')
    return refuse(`Item '${last.id}' of type 'reasoning' was provided without its required following item.`)
  if (call && reasoning.length === 0)
    return refuse(
      `Item '${call.id}' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.`,
    )
  return json(200, response('Hello'))(reply, request)
}

/** OpenAI's Responses API, asked for an item that was not stored: https://github.com/anomalyco/opencode/issues/7724 */
export const storesNothing: Behaviour = (reply, request) => {
  const input = list((request.body as Fields).input)
  const lost = input.find(({ type, id, encrypted_content: sealed }) =>
    type === 'item_reference' || type === 'reasoning' ? sealed === undefined : id !== undefined,
  )
  if (lost === undefined) return json(200, response('Hello'))(reply, request)
  const message = `Item with id '${lost.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
  return json(404, { error: { message, type: 'invalid_request_error', param: 'input', code: null } })(reply, request)
}

/** OpenAI's models that do not reason. */
export const noOpenAiEffort: Behaviour = (reply, request) => {
  const message = "Unsupported parameter: 'reasoning.effort' is not supported with this model."
  const { reasoning } = request.body as { reasoning?: Fields }
  const refusal = { error: { message, type: 'invalid_request_error', param: 'reasoning.effort', code: null } }
  return json(
    reasoning?.effort === undefined ? 200 : 400,
    reasoning?.effort === undefined ? response('Hello') : refusal,
  )(reply, request)
}

/** A thinking block of another provider, as a client brings it back. */
export const FOREIGN_BLOCK = { type: 'thinking', thinking: THOUGHT, signature: 'EqQBforeign==' }
