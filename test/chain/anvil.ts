import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const require = createRequire(import.meta.url)
/** Time limit for a node to listen, in milliseconds. */
const START_MS = 20_000

/** A node of an EVM chain of one's own. Its accounts are those of the mnemonic `test test … junk`, each with 10,000 ETH. */
export interface Anvil {
  url: string
  chainId: number
  stop(): Promise<void>
}

/** The private keys of the first accounts. */
export const KEYS = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
] as const

/** @param options.args such as `['--network', 'tempo']` */
export async function startAnvil({ chainId, args = [] }: { chainId: number; args?: string[] }): Promise<Anvil> {
  const node = spawn(binary(), ['--port', '0', '--chain-id', String(chainId), '--threads', '1', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(node, 'exit')
  const lines = createInterface({ input: node.stdout })
  const deadline = setTimeout(() => node.kill('SIGKILL'), START_MS)
  try {
    for await (const line of lines) {
      const port = /^Listening on .*:(\d+)$/.exec(line)?.[1]
      if (port === undefined) continue
      // Nobody reads on: a full pipe would stop the node.
      node.stdout.resume()
      return {
        url: `http://127.0.0.1:${port}`,
        chainId,
        async stop() {
          node.kill('SIGKILL')
          await exited
        },
      }
    }
  } finally {
    clearTimeout(deadline)
  }
  throw new Error('anvil ended before it listened')
}

/** The program itself: the package's own starter would be left behind by a kill. */
function binary(): string {
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch
  const name = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  return require.resolve(`@foundry-rs/anvil-${process.platform}-${cpu}/bin/${name}`)
}
