import type { AgentGatewayTarget } from '../../../src/agent-gateway/target.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { identityWithoutKey } from '../../../src/identity/keys.ts'
import type { ModelBody } from '../../../src/inference/admit/admit.ts'
import { isOfText } from '../../../src/inference/api/verbatim-paths.ts'
import { PLATFORM_VIA, refuseLoop } from '../../../src/wire/forwarding-loop.ts'
import { MODEL_ENDPOINTS } from '../../http/endpoints.ts'
import { cannotRepeat } from '../../http/relay-once.ts'
import { knownModel } from '../../http/routes/models-routes.ts'
import { checkVerbatim, verbatimPathAt } from '../../http/routes/verbatim-path-routes.ts'
import { modelBodyLimit } from '../../web/body-limit.ts'
import type { FrameContext } from '../../web/frame-context.ts'
import { parseJson, readBytes } from '../../web/json-body.ts'
import { ownKeyOf, ownKeyUnused } from '../../web/own-key.ts'
import { pathBelowV1 } from '../proxy/proxy.ts'

/** Identity of a client that has not paid yet. */
const NOBODY = identityWithoutKey({ id: 'payer', name: 'payer', scopes: new Set<never>(), wallet: null })
const MODELS = '/v1/models'
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/**
 * Refuses a request to `/v1` that could not be served, before it is paid, and reads its body. Checks a request to this
 * gateway's own `/v1` completely, and one to another service only for JSON syntax.
 *
 * @throws GazewayError the refusal of the request
 */
export async function checkPaidRequest(c: FrameContext, gateway: Gateway, target: AgentGatewayTarget): Promise<void> {
  const { incoming } = c.env
  const { headers, method = 'GET' } = incoming
  const [path = ''] = pathBelowV1(c.req.url).split('?')
  refuseLoop(headers.via, PLATFORM_VIA)
  if (ownKeyOf(incoming) !== undefined) throw ownKeyUnused('A request that is paid for')
  target.admit(NOBODY, null)?.end()
  if (target.isOwn) requirePath(c, method, path)
  const bytes = await readBytes(incoming, modelBodyLimit(gateway, null))
  c.set('body', bytes)
  if (target.isOwn) return checkOwn(c, gateway, { path, bytes })
  if (bytes.length > 0 && JSON_TYPE.test(headers['content-type'] ?? '')) parseJson(headers, bytes)
}

function requirePath(c: FrameContext, method: string, path: string): void {
  const passed = verbatimPathAt(method, path)
  if (passed && isOfText(passed)) return
  if (passed)
    throw new GazewayError(
      'forbidden_path',
      `Requests to ${path} cannot be paid for one by one: their cost is not known beforehand. Use an API key.`,
      { param: 'path' },
    )
  const isModelCall = Object.hasOwn(MODEL_ENDPOINTS, path)
  if (!isModelCall && path !== MODELS && !path.startsWith(`${MODELS}/`))
    throw new GazewayError('not_found', `There is nothing at ${method} ${path.slice(0, 200)}.`)
  const allow = isModelCall ? ['POST'] : ['GET', 'HEAD']
  if (allow.includes(method)) return
  c.header('allow', allow.join(', '))
  throw new GazewayError('method_not_allowed', `${method} is not allowed here. Use ${allow.join(', ')}.`)
}

async function checkOwn(
  c: FrameContext,
  { upstream }: Gateway,
  { path, bytes }: { path: string; bytes: Buffer },
): Promise<void> {
  const { headers } = c.env.incoming
  const passed = verbatimPathAt('POST', path)
  if (passed) return void upstream.requireKey(checkVerbatim(passed, headers, bytes) ?? undefined, 'chat')
  const endpoint = MODEL_ENDPOINTS[path]
  if (!endpoint) {
    const context = { surface: 'platform' as const, callerId: null }
    if (path !== MODELS) await knownModel(upstream, decodeURIComponent(path.slice(MODELS.length + 1)), context)
    return
  }
  const { json } = parseJson(headers, bytes)
  const { stream } = endpoint.check(json)
  if (stream && headers['idempotency-key'] !== undefined) throw cannotRepeat()
  const { model } = json as ModelBody
  upstream.requireKey(model ?? undefined, path.endsWith('/responses') ? 'primary' : 'chat')
}
