import { join } from 'node:path'
import { createPublicClient, createWalletClient, type Hex, http, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { createChain } from '../src/chain/chain.ts'
import { createSigner } from '../src/chain/signer.ts'
import { openStore } from '../src/store/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { type Anvil, KEYS, startAnvil } from '../test/chain/anvil.ts'
import { chainConfig } from '../test/chain/setup.ts'
import { deployToken, type Token } from '../test/chain/token.ts'
import { startPostgres } from '../test/contract/postgres-server.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { interleave } from './stats.ts'

const ROUNDS = { warmups: 10, rounds: 60 }
const CHAIN_ID = 31_337
const CENT = 10_000
const RECIPIENT = '0x00000000000000000000000000000000000000aa'
const TRANSFER = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])
const POLL_MS = 1000

/** Time of a settlement, compared with the same transfer by a plain client, on a chain that mines at once. */
export async function section(report: Report): Promise<void> {
  const anvil = await startAnvil({ chainId: CHAIN_ID })
  const token = await deployToken(anvil)
  for (const key of [KEYS[0], KEYS[1]]) await token.mint(createSigner(key).address, 1_000_000_000n)

  const sqlite = await openStore(`sqlite:${join(temporaryFolder('settlement'), 'store.db')}`)
  await measure(report, { anvil, token, store: sqlite, engine: 'SQLite' })
  await sqlite.close()

  const server = await startPostgres({ durable: true })
  const postgres = await openStore(await server.database())
  await measure(report, { anvil, token, store: postgres, engine: 'PostgreSQL' })
  await postgres.close()
  await server.remove()
  await anvil.stop()
}

async function measure(
  report: Report,
  { anvil, token, store, engine }: { anvil: Anvil; token: Token; store: Store; engine: string },
): Promise<void> {
  const setup = { url: anvil.url, chainId: CHAIN_ID, token: token.address, settlement: { poll_ms: POLL_MS } }
  const onError = (error: unknown) => {
    throw error
  }
  const chain = createChain({ store, config: chainConfig(setup), now: () => new Date(), onError })
  const waiting = new Map<string, () => void>()
  const settling = chain.startSettling(async (_, { id }) => waiting.get(id)?.())
  const pay = plainClient(anvil, token)
  const times = await interleave(
    {
      plain: pay,
      settled: async (turn) => {
        const escrowId = `esc_${engine}_${turn}`
        const confirmed = new Promise<void>((resolve) => waiting.set(escrowId, resolve))
        const at = new Date().toISOString()
        await store.write((trx) =>
          chain.settlements.enqueue(trx, { id: escrowId, recipient: RECIPIENT, micros: CENT, at }),
        )
        await confirmed
      },
    },
    ROUNDS,
  )
  await settling.stop()
  report.add({
    what: `what settlement adds to a transfer, ${engine}`,
    unit: 'ms',
    figure: Math.max(0, times.settled - times.plain),
    against: { what: 'the transfer by a plain client', figure: times.plain },
    bar: { atMost: 20 },
  })
}

/** Prepares, signs and sends a transfer and waits for its receipt, as programs with viem do. */
function plainClient({ url }: Anvil, token: Token): () => Promise<void> {
  const account = privateKeyToAccount(KEYS[1])
  const chain = { ...foundry, id: CHAIN_ID }
  const reader = createPublicClient({ chain, transport: http(url), pollingInterval: 1 })
  const writer = createWalletClient({ chain, transport: http(url), account })
  return async () => {
    const hash = await writer.writeContract({
      ...{ address: token.address as Hex, abi: TRANSFER },
      ...{ functionName: 'transfer', args: [RECIPIENT, BigInt(CENT)] },
    })
    await reader.waitForTransactionReceipt({ hash })
  }
}
