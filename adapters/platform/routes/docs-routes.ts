import type { Hono } from 'hono'
import type { AgentGatewayTarget } from '../../../src/agent-gateway/target.ts'
import { lazily } from '../../../src/lazily.ts'
import type { Frame } from '../../web/frame-context.ts'
import { reachedAt } from '../../web/reached-address.ts'
import type { GroupedRoute, Route } from '../define-route.ts'
import { describePlatform } from '../description.ts'
import type { OpenApi } from '../openapi.ts'

const loadGateway = lazily(() => import('../../http/describe-gateway.ts'))

/** Paths of the descriptions. They need no key. */
export const DESCRIPTIONS = { platform: '/openapi.json', gateway: '/gateway-openapi.json' } as const

/**
 * Serves the descriptions of the platform and of the gateway, which the reference at `/docs` shows. They are made on
 * the first request, because that takes an eighth of a start.
 *
 * @param shared routes that both ports have
 */
export function docsRoutes(
  app: Hono<Frame>,
  {
    routes,
    shared,
    agentGateway,
  }: { routes: readonly GroupedRoute[]; shared: readonly Route[]; agentGateway: AgentGatewayTarget },
): void {
  let known: Promise<OpenApi> | undefined
  let ofGateway: OpenApi | undefined
  app.get(DESCRIPTIONS.platform, async (c) => {
    known ??= describePlatform(routes)
    return c.json(await known)
  })
  app.get(DESCRIPTIONS.gateway, async (c) => {
    const { describeGateway } = await loadGateway()
    ofGateway ??= describeGateway(shared)
    const { info } = ofGateway
    return c.json({
      ...ofGateway,
      ...(agentGateway.isOwn
        ? { servers: [{ url: besides(reachedAt(c.env.incoming.headers), agentGateway) }] }
        : { info: { ...info, description: `${info.description} ${ELSEWHERE}` } }),
    })
  })
}

const ELSEWHERE =
  'It does not run in this process: the setting agent_gateway.url has its address, where /openapi.json describes it with a key.'

/** Address of the gateway on the host at which a client reached the platform. */
function besides(reached: string, { url }: AgentGatewayTarget): string {
  const address = new URL(reached)
  address.port = new URL(url).port
  return address.origin
}
