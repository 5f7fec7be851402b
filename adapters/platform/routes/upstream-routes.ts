import * as z from 'zod'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { Upstream } from '../../../src/inference/inference.ts'
import { createRouting, type Routing } from '../../../src/inference/route/routing.ts'
import type { NamedUpstream } from '../../../src/inference/upstreams/named-upstream.ts'
import { callerOf } from '../../web/frame-context.ts'
import { callContext } from '../call-context.ts'
import { defineRoute, type Route } from '../define-route.ts'

/** Name of a model in requests. */
export const model = z.string().min(1).max(256)

const ShownUpstream = z.object({
  name: z.string().describe('default, or its name in upstreams'),
  provider: z.string().describe('Its name in call records'),
  base_url: z.string(),
  protocol: z.enum(['openai', 'anthropic']),
  configured: z.boolean().describe('Whether the required key is set'),
  reachable: z.boolean().nullable().describe('By its last call, or a check at most every 30 s; null when unknown'),
  keys: z.int(),
  resting_keys: z
    .array(
      z.object({
        key: z.int().describe('Its position, from 1'),
        model: z.string().nullable().describe('null: paused for all models'),
        seconds: z.int(),
      }),
    )
    .describe('Keys that are paused after a 429 or 401'),
  open_circuits: z
    .array(
      z.object({
        path: z.string().nullable().describe('Endpoint; null when the upstream accepts no connection'),
        model: z.string().nullable(),
        for_everyone: z.boolean().describe('false: only for the key whose calls failed'),
      }),
    )
    .describe('Open circuit breakers'),
  model_list: z
    .object({ at: z.string(), error: z.string().nullable().describe('Why there is no list') })
    .nullable()
    .describe('The last fetch of its model list in this process; these are not in the audit trail'),
  calls: z.int().describe('Of the last 100 in this process'),
  error_rate: z.number().nullable().describe('From 0 to 1; null without calls'),
  latency_ms: z.number().nullable().describe('Median of answered calls'),
})
export type ShownUpstream = z.infer<typeof ShownUpstream>

/** Result of a model's test. */
export const Tested = z.object({
  ok: z.boolean(),
  status: z.int().nullable().describe('Status of the upstream; null without an answer'),
  latency_ms: z.int(),
  text: z.string().describe('The answer of the model, or the error'),
  call_id: z.string().nullable(),
})
export type Tested = z.infer<typeof Tested>

/** Candidates for a model, and the rule that selects them. */
export const Explained = z.object({
  model: z.string(),
  by: z.enum(['route', 'name', 'models', 'default']).describe('Kind of rule that selected the candidates'),
  route: z.int().nullable().describe('Position of the route in routes, from 0'),
  candidates: z.array(
    z.object({
      upstream: z.string(),
      model: z.string().describe('Its name at this upstream'),
      id: z.string().describe('The provider’s id for it'),
      weight: z.number(),
      configured: z.boolean().describe('Candidates without a key are skipped'),
      skipped: z
        .enum(['no_key', 'circuit_open', 'keys_resting'])
        .nullable()
        .describe('Why it would be skipped now; null where it is tried'),
    }),
  ),
})
export type Explained = z.infer<typeof Explained>

/**
 * Routes of the upstreams, and of the candidates for a model.
 *
 * @param stopping aborted shortly before shutdown ends pending work
 */
export const upstreamRoutes = (gateway: Gateway, stopping: AbortSignal): Route[] => [
  defineRoute('GET /api/upstreams', {
    operation: 'listUpstreams',
    summary: 'List upstreams with state, latency, error rate and paused keys',
    access: 'admin',
    reply: z.object({ items: z.array(ShownUpstream), total: z.int() }),
    async run() {
      const items = await gateway.upstreamStates()
      return { items, total: items.length }
    },
  }),
  defineRoute('POST /api/upstreams/{name}/test', {
    operation: 'testUpstream',
    summary: 'Test a model at one upstream, bypassing routes',
    description: 'A normal call: recorded and charged.',
    access: 'admin',
    params: z.object({ name: z.string().max(64) }),
    body: z.strictObject({ model }),
    reply: Tested,
    async run({ params: { name }, body, c }) {
      const { upstream } = gateway
      const found = upstream.routing.upstreams.find(({ provider }) => provider.id === name)
      if (!found) throw new GazewayError('not_found', `There is no upstream ${name}; GET /api/upstreams lists them.`)
      return upstream.test(found, body.model, callContext(c, callerOf(c).id, stopping))
    },
  }),
  defineRoute('GET /api/candidates', {
    operation: 'listCandidates',
    summary: 'List the candidates for a model in order, with the reason',
    access: 'admin',
    query: z.strictObject({ model }),
    reply: Explained,
    async run({ query }) {
      return candidatesFor(query.model, gateway)
    },
  }),
  defineRoute('POST /api/candidates', {
    operation: 'explainRoutes',
    summary: 'List the candidates for a model by routes that are not saved',
    description: 'A dry run of `routes`: nothing is changed, and no model is asked.',
    access: 'admin',
    body: z.strictObject({ model, routes: z.unknown().describe('As the setting routes') }),
    reply: Explained,
    async run({ body }) {
      const { config } = await gateway.config.preview({ routes: body.routes })
      return candidatesFor(body.model, gateway, createRouting(gateway.upstream.routing.upstreams, config.routes))
    },
  }),
]

/** Finds the candidates for a model, by default as routes are configured now. */
export function candidatesFor(model: string, { upstream }: Gateway, routing: Routing = upstream.routing): Explained {
  const { rule, targets } = routing.explain(model)
  return {
    model,
    by: rule.by,
    route: rule.by === 'route' ? rule.place : null,
    candidates: targets.map(({ upstream: of, model: name, weight }) => {
      const id = of.provider.resolve(name, 'chat').upstream
      const { hasKey: configured } = of.provider
      return { upstream: of.provider.id, model: name, id, weight, configured, skipped: skippedAs(of, id, upstream) }
    }),
  }
}

/** Reason why a call to a model would pass an upstream over now. */
function skippedAs(of: NamedUpstream, id: string, upstream: Upstream): Explained['candidates'][number]['skipped'] {
  if (!of.provider.hasKey) return 'no_key'
  const relays = upstream.relaysOf(of)
  const isOpen = relays?.openCircuits().some((one) => one.path === null || (one.for_everyone && one.model === id))
  if (isOpen) return 'circuit_open'
  const resting = relays?.resting().filter((one) => one.model === null || one.model === id) ?? []
  return new Set(resting.map(({ key }) => key)).size >= of.keys.length ? 'keys_resting' : null
}
