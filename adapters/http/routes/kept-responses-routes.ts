import type { Hono } from 'hono'
import * as z from 'zod'
import type { KeptResponse } from '../../../src/conversations/kept-responses.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { OWN_RESPONSE } from '../../../src/inference/api/own-response.ts'
import { sendable } from '../../../src/inference/continue/continued-request.ts'
import { exactJson } from '../../../src/inference/convert/exact-json.ts'
import { parseExact } from '../../../src/inference/relay/request-body.ts'
import { outlineOf } from '../../../src/text/json-members.ts'
import type { Fields } from '../../../src/text/typed-reader.ts'
import { parseInput } from '../../../src/wire/validation.ts'
import { callerOf, type Frame, type FrameContext } from '../../web/frame-context.ts'
import { readQuery } from '../../web/read-query.ts'

/** Path of a Response that Gazeway made; others are their upstream's. */
const PATH = `/v1/responses/:id{${OWN_RESPONSE}_[^/]+}` as const

/** Page of a list in OpenAI's API. */
const Page = z.looseObject({
  limit: z.int().min(1).max(100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().optional(),
  before: z.string().optional(),
})

/** Reads, deletes and cancels the Responses that Gazeway keeps, as OpenAI's reference says. */
export function keptResponsesRoutes(app: Hono<Frame>, { keptResponses: kept }: Gateway): void {
  const idOf = (c: FrameContext) => c.req.param('id') as string

  async function find(c: FrameContext): Promise<KeptResponse> {
    return (await kept.read(idOf(c), callerOf(c).id)) ?? notFound(idOf(c))
  }

  app.get(PATH, async (c) => {
    const { response } = await find(c)
    if (c.req.query('stream') === 'true') throw notInBackground('streamed again')
    return c.body(response, 200, { 'content-type': 'application/json' })
  })
  app.get(`${PATH}/input_items`, async (c) => {
    const page = pageAsked(readQuery(c.req, ['limit']))
    const input = await inputOf(idOf(c), await find(c))
    return c.body(exactJson(pageOf(input, page)), 200, { 'content-type': 'application/json' })
  })
  app.post(`${PATH}/cancel`, async (c) => {
    await find(c)
    throw notInBackground('cancelled')
  })
  app.delete(PATH, async (c) => {
    const id = idOf(c)
    if (await kept.delete(id, callerOf(c).id)) return c.json({ id, object: 'response', deleted: true })
    return notFound(id)
  })
}

/** Items that a Response answers, those of the conversation before it too. Each has an id, and its numbers their digits. */
async function inputOf(id: string, { items, response }: KeptResponse): Promise<{ id: string }[]> {
  const all = (outlineOf(items).hasLargeNumber ? await parseExact(items) : JSON.parse(items)) as Fields[]
  const { output } = JSON.parse(response) as Fields
  const input = all.slice(0, all.length - sendable(output).length)
  return input.map((item, index) => ({ id: `item_${id.slice(OWN_RESPONSE.length + 1)}_${index}`, ...asListed(item) }))
}

/** An item in its full form: clients may send the content of a message as a text, and without a type. */
function asListed(item: Fields): Fields {
  const { type = 'message', role, content } = item
  if (type !== 'message') return item
  const part = role === 'assistant' ? { type: 'output_text', annotations: [] } : { type: 'input_text' }
  const parts = typeof content === 'string' ? [{ ...part, text: content }] : content
  return { status: 'completed', ...item, type, content: parts }
}

/** Reads the query of a list. A wrong one is 400, as at OpenAI. */
function pageAsked(query: unknown): z.infer<typeof Page> {
  try {
    return parseInput(Page, query)
  } catch (error) {
    if (!(error instanceof GazewayError) || error.param === null) throw error
    throw new GazewayError('invalid_request', error.message, { param: error.param })
  }
}

/** Page of a list: its first items, or its last where it has to end before one. An unknown id leaves it empty. */
function pageOf(items: readonly { id: string }[], { limit, order, after, before }: z.infer<typeof Page>): object {
  const ordered = order === 'desc' ? items.toReversed() : items
  const placeOf = (wanted: string) => ordered.findIndex(({ id }) => id === wanted)
  const begin = after === undefined ? 0 : placeOf(after) + 1 || ordered.length
  const end = before === undefined ? ordered.length : Math.max(0, placeOf(before))
  const found = ordered.slice(begin, end)
  const data = before === undefined ? found.slice(0, limit) : found.slice(-limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: data.length < found.length,
  }
}

function notFound(id: string): never {
  throw new GazewayError('not_found', `There is no response ${id.slice(0, 200)} that was made with this key.`)
}

const notInBackground = (what: string): GazewayError =>
  new GazewayError('invalid_request', `This response was not made in the background, so that it cannot be ${what}.`)
