import { ask, show, withPlatform } from './running.ts'

/**
 * Starts the gateway and the platform of the built command with the sandbox, makes a key, pays for a call with it, and
 * prints the receipt and the usage.
 *
 * @param options.command the built `cli.js`
 * @throws Error when the start or a request fails
 */
export async function showPlatform(options: { command: string; dataDir: string }): Promise<void> {
  await withPlatform(options, async ({ url, admin }) => {
    console.log(`\nGazeway’s platform on ${url}, with its gateway behind it and the sandbox for a model.\n`)

    const made = await ask(`${url}/api/keys`, admin, { name: 'demo', scopes: ['platform'] })
    const { key, id } = made as { key: string; id: string }
    console.log(`1. A key was made: ${id}\n`)
    const deposit = { caller_id: id, amount_usd: 1, reference: 'demo' }
    const { available_usd } = await ask(`${url}/api/wallet/metered/deposit`, admin, deposit)
    console.log(`2. Its account was credited: ${available_usd} USD are available.\n`)
    const prompt = 'A saccade is a jump of the eyes; a fixation is the rest between two. What is a fixation?'
    const call = { caller_id: key, model: 'llm-4-1-fast-reasoning', prompt, max_tokens: 60 }
    show('3. A call was made and paid for. Its receipt:', await ask(`${url}/api/wallet/metered/call`, null, call))
    show('4. What was used so far:', await ask(`${url}/api/wallet/metered/usage`, key))
    show('5. What is left:', await ask(`${url}/api/wallet`, key))
  })
}
