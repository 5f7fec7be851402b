import type { Config } from '../config/schema.ts'
import { GazewayError } from '../errors.ts'
import { type PaymentSettings, paymentSettings } from './settings.ts'

/** How long a node may take to answer, in milliseconds. */
const PATIENCE_MS = 10_000

/**
 * Checks that payments are configured whole, and that the node of each method answers and is of its chain.
 *
 * @returns what was found, in words
 * @throws GazewayError `config_invalid` naming what is missing, `upstream_unreachable` naming the node that cannot be used
 */
export async function checkPayments(config: Pick<Config, 'mpp' | 'wallet'>): Promise<string> {
  if (!config.mpp.enabled) return 'not asked for'
  const settings = paymentSettings(config)
  const found: string[] = []
  for (const name of ['evm', 'tempo'] as const) {
    const method = settings[name]
    if (method === null) continue
    await askNode(`mpp.${name}.rpc_url`, method)
    found.push(`${name} (chain ${method.chainId})`)
  }
  return `taken with ${found.join(' and ')}`
}

async function askNode(param: string, { chainId, rpcUrl }: NonNullable<PaymentSettings['evm' | 'tempo']>) {
  // What asks a chain takes about half a second to load.
  const { openNode } = await import('../chain/node.ts')
  const { client, faultOf } = openNode({ chainId, rpcUrl, timeoutMs: PATIENCE_MS })
  const id = await client.getChainId().catch((error: unknown) => {
    throw unusable(param, faultOf(error), error)
  })
  if (id !== chainId) throw unusable(param, `The node says that it is of chain ${id}, not ${chainId}.`)
}

const unusable = (param: string, fault: string, cause?: unknown): GazewayError =>
  new GazewayError('upstream_unreachable', `${param}: ${fault}`, { param, cause })
