import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPublicClient, type Hex, http, parseAbiItem } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Anvil, KEYS, startAnvil } from '../../test/chain/anvil.ts'
import { deployToken, type Token } from '../../test/chain/token.ts'
import { humanStream } from '../../test/gaze/human-stream.ts'
import { ask, show, withPlatform } from './running.ts'

const CHAIN_ID = 31_337
const BLOCK_SECONDS = 1
const CONFIRMATIONS = 2
const REWARD_USD = 2.5
/** The reward in the token's units, of which it has 6 decimals. */
const REWARD = 2_500_000n
const SESSION = 'demo-reading'
/** Enough for an attestation; reading them takes about ten seconds. */
const GAZE_RECORDS = 30
/** Time limit for the confirmation of a payment, in milliseconds. */
const PATIENCE_MS = 60_000
const LOOK_MS = 250

const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

/** An escrow, as far as the story tells of it. */
interface Escrow {
  id: string
  status: string
  settlement: { status: string; tx_hash: string | null; attempts: number; error: string | null }
}

/**
 * The whole life of a reward, on a chain that runs on this machine: a task is created with it, claimed and completed; the
 * agent's gaze attests to its attention; the escrow is released, and paid out in a token. Prints the balances before and
 * after.
 *
 * @param options.command the built `cli.js`
 * @throws Error when a step fails, or the agent was not paid exactly once
 */
export async function showEscrow({ command, dataDir }: { command: string; dataDir: string }): Promise<void> {
  const anvil = await startAnvil({ chainId: CHAIN_ID, args: ['--block-time', String(BLOCK_SECONDS)] })
  process.prependOnceListener('exit', () => void anvil.stop())
  try {
    const token = await deployToken(anvil)
    const payer = privateKeyToAccount(KEYS[0]).address
    const recipient = privateKeyToAccount(KEYS[1]).address
    await token.mint(payer, 100n * 1_000_000n)
    writeFileSync(join(dataDir, 'config.json'), JSON.stringify(configFor(anvil, token)))
    const env = { GAZEWAY_WALLET_PRIVATE_KEY: KEYS[0] }
    await withPlatform({ command, dataDir, env }, ({ url, admin }) =>
      tell({ url, admin, recipient, balance: token.balanceOf, payments: () => paymentsTo(recipient, anvil, token) }),
    )
  } finally {
    await anvil.stop()
  }
}

/** Addresses, keys and chain readers that the demonstration uses. */
interface Scene {
  url: string
  admin: string
  /** The address that the agent is paid at. */
  recipient: Hex
  /** An address's tokens, in units. */
  balance(owner: string): Promise<bigint>
  /** The amounts that the recipient was paid on the chain, one by one. */
  payments(): Promise<bigint[]>
}

async function tell({ url, admin, recipient, balance, payments }: Scene): Promise<void> {
  console.log(`\nGazeway’s platform on ${url}, which pays escrows in a token on chain ${CHAIN_ID} (anvil).\n`)
  const shop = await newKey(url, admin, 'shop')
  const agent = await newKey(url, admin, 'agent')
  await ask(`${url}/api/wallet/metered/deposit`, admin, { caller_id: shop.id, amount_usd: 10, reference: 'demo' })
  const balances = async () => ({
    shop: (await ask(`${url}/api/wallet`, shop.key)).ledger,
    agent_on_chain: Number(await balance(recipient)) / 1e6,
  })
  show('1. A shop has deposited 10 USD; an agent has an address on the chain. Balances before:', await balances())

  const task = await ask(`${url}/api/tasks`, shop.key, {
    title: 'Review the fallback of the research model',
    reward_usd: REWARD_USD,
    recipient,
  })
  show('2. The shop creates a task; its reward is locked in escrow with it:', task)
  const claimed = await ask(`${url}/api/tasks/${task.id}/claim`, agent.key, { agent: 'reviewer' })
  console.log(`3. The agent claims it: ${claimed.status}, until ${claimed.lease_expires_at}.\n`)
  const records = readingSince(String(claimed.claimed_at))
  await readThrough(records)
  const stored = await ask(`${url}/api/gaze/store`, agent.key, { session_id: SESSION, task_id: task.id, records })
  show('4. Gaze from the work (made up, with the statistics of a person’s) gives an attestation:', stored.attestation)
  const completed = await ask(`${url}/api/tasks/${task.id}/complete`, agent.key, {
    agent: 'reviewer',
    claim_token: claimed.claim_token,
    result: { verdict: 'It falls back as documented.' },
    status: 'completed',
  })
  console.log(`5. It has done the work, and completes it: ${completed.status}.\n`)

  const release = { escrow_id: task.escrow_id, attestation_id: (stored.attestation as { id: string }).id, recipient }
  const released = await ask(`${url}/api/wallet/escrow/release`, shop.key, release)
  show('6. The shop releases the escrow:', released)

  const settled = await settledEscrow(`${url}/api/wallet/escrow/${task.escrow_id}`, shop.key)
  show(`7. The payment is ${CONFIRMATIONS} blocks deep, and the escrow is settled:`, settled)
  const again = (await ask(`${url}/api/wallet/escrow/release`, shop.key, release)) as unknown as Escrow
  console.log(`8. Released once more, it answers the same: ${again.id} is ${again.status}.\n`)
  await new Promise((resolve) => setTimeout(resolve, 2 * BLOCK_SECONDS * 1000))
  show('9. Balances after:', await balances())

  const paid = await payments()
  if (paid.length !== 1 || paid[0] !== REWARD || (await balance(recipient)) !== REWARD)
    throw new Error(`The agent was to be paid ${REWARD} once; it was paid [${paid.join(', ')}].`)
  console.log(`The agent was paid exactly once: ${REWARD_USD} tokens, in ${settled.settlement.tx_hash}.\n`)
}

function configFor(anvil: Anvil, token: Token): unknown {
  return {
    pricing: { token: 'TUSD' },
    chain: {
      networks: {
        [CHAIN_ID]: {
          name: 'Anvil',
          tokens: [{ symbol: 'TUSD', address: token.address, decimals: 6 }],
          confirmations: CONFIRMATIONS,
        },
      },
      rpc_urls: { [CHAIN_ID]: anvil.url },
      settlement: { mode: 'evm', chain_id: CHAIN_ID, token: 'TUSD', poll_ms: LOOK_MS },
    },
  }
}

async function newKey(url: string, admin: string, name: string): Promise<{ id: string; key: string }> {
  const made = await ask(`${url}/api/keys`, admin, { name, scopes: ['platform'] })
  return made as { id: string; key: string }
}

/** Gaze that begins at a time. */
const readingSince = (start: string) => humanStream(7, { records: GAZE_RECORDS, start })

/** Waits until the last of these records has ended. */
async function readThrough(records: ReturnType<typeof humanStream>): Promise<void> {
  const last = records.at(-1)
  if (last === undefined) return
  const left = Date.parse(last.at) + last.dwell_ms - Date.now()
  await new Promise((resolve) => setTimeout(resolve, left))
}

async function settledEscrow(url: string, key: string): Promise<Escrow> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const escrow = (await ask(url, key)) as unknown as Escrow
    if (escrow.status === 'settled') return escrow
    if (Date.now() > deadline) throw new Error(`The escrow was not settled in time: ${JSON.stringify(escrow)}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

async function paymentsTo(recipient: Hex, anvil: Anvil, token: Token): Promise<bigint[]> {
  const reader = createPublicClient({ transport: http(anvil.url) })
  const logs = await reader.getLogs({
    address: token.address,
    event: TRANSFER,
    args: { to: recipient },
    fromBlock: 0n,
    toBlock: 'latest',
  })
  return logs.map(({ args }) => args.value ?? 0n)
}
