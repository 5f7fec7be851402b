import type { LoadedConfig } from '../../src/config/config.ts'
import { gatewayKeys, observerLine, rotateGatewayKey } from '../../src/signing/gateway-keys.ts'
import { makeFolder } from '../../src/store/make-folder.ts'

/** Flags of `gazeway review keys`. */
export interface KeyFlags {
  name: string
  /** Reviewers whose machine this is. */
  of?: string[]
  rotate?: boolean
  json?: boolean
}

/** Prints the keys that the gateway signs with, newest first. Creates or rotates one where that is asked. */
export async function listSigningKeys(
  { dataDir }: LoadedConfig,
  { name, of = [], rotate = false, json = false }: KeyFlags,
): Promise<void> {
  makeFolder(dataDir)
  const keys = await (rotate ? rotateGatewayKey : gatewayKeys)(dataDir, new Date())
  const lines = keys.map((key) => `${observerLine([name, ...of].join(','), key)}\n`).join('')
  process.stdout.write(json ? `${JSON.stringify({ keys }, null, 2)}\n` : lines)
}
