import * as z from 'zod'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { Upstream } from '../../../src/inference/inference.ts'
import { DEFAULT_UPSTREAM } from '../../../src/inference/upstreams/provider.ts'
import { lazily } from '../../../src/lazily.ts'
import { callerOf, type FrameContext } from '../../web/frame-context.ts'
import { callContext } from '../call-context.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { Changes } from './config-routes.ts'
import { Verdict } from './doctor-routes.ts'
import { model, Tested } from './upstream-routes.ts'

/** Tries at once in a process: each holds an upstream of its own, with its connections and its list of models. */
const MAX_TRIES = 4
/** Maximum number of models in a reply. */
const MAX_MODELS = 1000

const loadChecks = lazily(async () => {
  const [{ checkUpstream }, { reason }] = await Promise.all([
    import('../../doctor/upstream-checks.ts'),
    import('../../doctor/doctor.ts'),
  ])
  return { checkUpstream, reason }
})

const TriedUpstream = z.object({
  verdict: Verdict.describe('ok: it takes the key and lists models'),
  text: z.string().describe('What was found, and what to do'),
  models: z
    .array(
      z.object({
        id: z.string().describe('Its id at the upstream'),
        input: z.number().nullable().describe('US dollars per 1,000,000 tokens; null without a price'),
        output: z.number().nullable(),
        context: z.int().nullable().describe('Most tokens of prompt and answer together'),
      }),
    )
    .describe(`At most ${MAX_MODELS}`),
  total: z.int().describe('Models that it lists'),
  tested: Tested.nullable().describe('Answer of the model to test'),
})
export type TriedUpstream = z.infer<typeof TriedUpstream>

/**
 * Route that tries an upstream before its settings are saved.
 *
 * @param stopping aborted shortly before shutdown ends pending work
 */
export function tryUpstreamRoutes(gateway: Gateway, stopping: AbortSignal): Route[] {
  let tries = 0
  const route = defineRoute('POST /api/upstreams/{name}/try', {
    operation: 'tryUpstream',
    summary: 'Try an upstream with settings that are not saved',
    description:
      'Asks it for its models with the key in `changes`, and lists them with their prices. Nothing is stored. A model to ' +
      'test is asked for a word: a normal call, recorded and charged.',
    access: 'admin',
    params: z.object({ name: z.string().max(64) }),
    body: z.strictObject({ changes: Changes.optional(), test: model.optional() }),
    reply: TriedUpstream,
    async run({ params: { name }, body: { changes = {}, test }, c }) {
      if (tries === MAX_TRIES)
        throw new GazewayError(
          'too_many_requests',
          `${MAX_TRIES} upstreams are being tried; retry once one has answered.`,
        )
      tries++
      try {
        return await tryUpstream(gateway, { name, changes, test, c, stopping })
      } finally {
        tries--
      }
    },
  })
  return [route]
}

interface Tried {
  name: string
  changes: z.infer<typeof Changes>
  test: string | undefined
  c: FrameContext
  stopping: AbortSignal
}

/** Tries an upstream with the settings that are stored and some changes of them. */
async function tryUpstream(gateway: Gateway, { name, changes, test, c, stopping }: Tried): Promise<TriedUpstream> {
  const next = await gateway.config.preview(changes)
  const entry = Object.entries(next.config.upstreams).filter(([id]) => id === name)
  if (name !== DEFAULT_UPSTREAM && entry.length === 0)
    throw new GazewayError('not_found', `There is no upstream ${name}; send its settings in changes.`)
  // Alone, so that the names of its models lead nowhere else.
  const config = { ...next.config, upstreams: Object.fromEntries(entry), routes: [] }
  return gateway.withUpstreamsOf(config, async (upstream) => {
    const of = upstream.routing.upstreams.find(({ provider }) => provider.id === name)
    if (!of) throw new GazewayError('validation_failed', `upstreams.${name}: it needs a provider or a base_url.`)
    const context = { ...callContext(c, callerOf(c).id, stopping), isTrial: true }
    const { checkUpstream, reason } = await loadChecks()
    const found = await checkUpstream({ upstream, loaded: { ...next, config } }, of).then(
      (said) => ({ verdict: typeof said === 'string' ? ('ok' as const) : ('warn' as const), text: said }),
      (error: unknown) => ({ verdict: 'fail' as const, text: reason(error) }),
    )
    const text = typeof found.text === 'string' ? found.text : found.text.warning
    const ids = found.verdict === 'fail' ? [] : ((await of.models.listed(context)) ?? [])
    const tested = test === undefined ? null : await upstream.test(of, test, context)
    const models = ids.slice(0, MAX_MODELS).map((id) => priced(id, name, upstream))
    return { verdict: found.verdict, text, models, total: ids.length, tested }
  })
}

function priced(id: string, name: string, upstream: Upstream): TriedUpstream['models'][number] {
  const { prices, context = null } = upstream.describe(name === DEFAULT_UPSTREAM ? id : `${name}/${id}`)
  return { id, input: prices?.input ?? null, output: prices?.output ?? null, context }
}
