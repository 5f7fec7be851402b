import type { Hono } from 'hono'
import * as z from 'zod'
import type { CallContext } from '../../../src/calls/call-record.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { GEMINI_VERSIONS, isGeminiPath } from '../../../src/inference/api/gemini-endpoints.ts'
import type { Upstream } from '../../../src/inference/inference.ts'
import type { Model } from '../../../src/inference/upstreams/model-list.ts'
import { parseInput } from '../../../src/wire/validation.ts'
import type { Frame, FrameContext } from '../../web/frame-context.ts'
import { readQuery } from '../../web/read-query.ts'
import { inCodex } from './codex-models.ts'
import { geminiPage } from './gemini-model-page.ts'
import { inAnthropic, inGemini, inOpenAi } from './model-formats.ts'

/** Anthropic's paging. Its clients ask for 20 models by default, and for the next ones while there are more. */
const Page = z.object({
  limit: z.int().min(1).max(1000).default(20),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
})

/**
 * `GET /v1/models` and `GET /v1/models/{id}`, and the same of Google's versions. An id may contain slashes. Clients that
 * send `anthropic-version` get Anthropic's format, those of Google's API get Google's, and Codex, which asks with
 * `client_version`, gets its own beside OpenAI's.
 */
export function modelRoutes(app: Hono<Frame>, { upstream }: Gateway): void {
  const described = (model: Model) => ({ model, known: upstream.describe(model.id) })

  for (const version of GEMINI_VERSIONS) {
    app.get(`/${version}/models`, async (c) => {
      const models = await upstream.models(contextOf(c))
      if (isGoogle(c)) return c.json(geminiPage(models, c, (model) => inGemini(described(model))))
      if (isAnthropic(c)) return c.json(page(models, c, (model) => inAnthropic(described(model))))
      const all = models.map(described)
      const codex = c.req.query('client_version') === undefined ? {} : { models: inCodex(all) }
      return c.json({ object: 'list', data: all.map(inOpenAi), ...codex })
    })
    app.get(`/${version}/models/:id{.+}`, async (c) => {
      const model = described(await knownModel(upstream, c.req.param('id'), contextOf(c)))
      if (isGoogle(c)) return c.json(inGemini(model))
      return c.json(isAnthropic(c) ? inAnthropic(model) : inOpenAi(model))
    })
  }
}

/** Context of a request that asks no model: the client's credential for a provider, if any, is not read. */
const contextOf = (c: FrameContext): CallContext => ({
  surface: 'http',
  callerId: c.get('identity')?.id ?? null,
  via: c.env.incoming.headers.via,
})

/** Tells whether a client is one of Google's: only by its headers, where it calls the version that others have, too. */
const isGoogle = ({ req, env: { incoming } }: FrameContext): boolean =>
  isGeminiPath(req.path) || incoming.headers['x-goog-api-key'] !== undefined

const isAnthropic = ({ env: { incoming } }: FrameContext): boolean =>
  incoming.headers['anthropic-version'] !== undefined

/** A page of Anthropic's list. An id that is not listed begins or ends nowhere: the page is empty then. */
function page(models: readonly Model[], c: FrameContext, shown: (model: Model) => { id: string }): object {
  const { limit, after_id, before_id } = parseInput(Page, readQuery(c.req, ['limit']))
  const ids = models.map(({ id }) => id)
  const begin = after_id === undefined ? 0 : ids.indexOf(after_id) + 1 || ids.length
  const end = before_id === undefined ? ids.length : Math.max(0, ids.indexOf(before_id))
  const between = models.slice(begin, end)
  const data = (before_id === undefined ? between.slice(0, limit) : between.slice(-limit)).map(shown)
  return {
    data,
    has_more: between.length > data.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  }
}

/** Finds a model by its id. @throws GazewayError `not_found` */
export async function knownModel({ models }: Upstream, id: string, context: CallContext): Promise<Model> {
  const model = (await models(context)).find((known) => known.id === id)
  if (model) return model
  throw new GazewayError('not_found', `There is no model ${id.slice(0, 200)}; GET /v1/models lists them.`, {
    param: 'model',
  })
}
