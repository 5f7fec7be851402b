import { createPublicClient, createWalletClient, getAddress, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { type Anvil, KEYS } from './anvil.ts'
import { compile } from './compile.ts'

/** An EIP-3009 token on a chain of one's own. */
export interface Token {
  address: Hex
  /** Its EIP-712 domain. */
  domain: { name: string; version: string }
  mint(to: string, amount: bigint): Promise<void>
  balanceOf(owner: string): Promise<bigint>
  call(functionName: string, args: readonly unknown[]): Promise<void>
}

export async function deployToken({ url, chainId }: Anvil): Promise<Token> {
  const { abi, bytecode } = compile('Token3009')
  const chain = { ...foundry, id: chainId }
  const reader = createPublicClient({ chain, transport: http(url), pollingInterval: 50 })
  const writer = createWalletClient({ chain, transport: http(url), account: privateKeyToAccount(KEYS[2]) })
  const deployed = await reader.waitForTransactionReceipt({ hash: await writer.deployContract({ abi, bytecode }) })
  const address = getAddress(deployed.contractAddress as Hex)

  async function call(functionName: string, args: readonly unknown[]): Promise<void> {
    await reader.waitForTransactionReceipt({ hash: await writer.writeContract({ abi, address, functionName, args }) })
  }
  return {
    address,
    domain: { name: 'Test USD', version: '2' },
    mint: (to, amount) => call('mint', [to, amount]),
    balanceOf: async (owner) =>
      (await reader.readContract({ abi, address, functionName: 'balanceOf', args: [owner] })) as bigint,
    call,
  }
}
