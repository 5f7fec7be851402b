import type { Hono } from 'hono'
import type { CallContext } from '../../../src/calls/call-record.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { Upstream } from '../../../src/inference/inference.ts'
import type { Model } from '../../../src/inference/upstreams/model-list.ts'
import { arrivalOf } from '../../web/arrival.ts'
import type { Frame } from '../../web/frame-context.ts'
import { callContext } from './chat-completions-route.ts'

/** `GET /v1/models` and `GET /v1/models/{id}`. An id may contain slashes. */
export function modelRoutes(app: Hono<Frame>, { upstream }: Gateway): void {
  app.get('/v1/models', async (c) => c.json({ object: 'list', data: await upstream.models(callContext(arrivalOf(c))) }))
  app.get('/v1/models/:id{.+}', async (c) =>
    c.json(await knownModel(upstream, c.req.param('id'), callContext(arrivalOf(c)))),
  )
}

/** Finds a model by its id. @throws GazewayError `not_found` */
export async function knownModel({ models }: Upstream, id: string, context: CallContext): Promise<Model> {
  const model = (await models(context)).find((known) => known.id === id)
  if (model) return model
  throw new GazewayError('not_found', `There is no model ${id.slice(0, 200)}; GET /v1/models lists them.`, {
    param: 'model',
  })
}
