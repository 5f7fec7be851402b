import { createPublicClient, createWalletClient, encodeFunctionData, getAddress, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { type Anvil, KEYS } from './anvil.ts'
import { type Compiled, compile } from './compile.ts'

/** An EIP-3009 token on a chain of one's own. */
export interface Token {
  address: Hex
  /** Its EIP-712 domain. */
  domain: { name: string; version: string }
  mint(to: string, amount: bigint): Promise<void>
  balanceOf(owner: string): Promise<bigint>
  call(functionName: string, args: readonly unknown[]): Promise<void>
  /** Makes calls of the token, each of its function and arguments, in one transaction of a contract. */
  callTogether(calls: readonly [functionName: string, args: readonly unknown[]][]): Promise<void>
  /** Encodes the data of a contract call. */
  dataOf(functionName: string, args: readonly unknown[]): Hex
}

/** @param name the contract in `test/chain/NAME.sol` */
export async function deployToken({ url, chainId }: Anvil, name = 'Token3009'): Promise<Token> {
  const { abi, bytecode } = compile(name)
  const chain = { ...foundry, id: chainId }
  const reader = createPublicClient({ chain, transport: http(url), pollingInterval: 50 })
  const writer = createWalletClient({ chain, transport: http(url), account: privateKeyToAccount(KEYS[2]) })
  const address = await deploy({ abi, bytecode })

  async function deploy(contract: Compiled): Promise<Hex> {
    const deployed = await reader.waitForTransactionReceipt({ hash: await writer.deployContract(contract) })
    return getAddress(deployed.contractAddress as Hex)
  }
  async function call(functionName: string, args: readonly unknown[]): Promise<void> {
    await reader.waitForTransactionReceipt({ hash: await writer.writeContract({ abi, address, functionName, args }) })
  }
  const dataOf = (functionName: string, args: readonly unknown[]) => encodeFunctionData({ abi, functionName, args })
  return {
    address,
    domain: { name: 'Test USD', version: '2' },
    mint: (to, amount) => call('mint', [to, amount]),
    balanceOf: async (owner) =>
      (await reader.readContract({ abi, address, functionName: 'balanceOf', args: [owner] })) as bigint,
    call,
    async callTogether(calls) {
      const batch = compile('Batch')
      const args = [address, calls.map(([functionName, given]) => dataOf(functionName, given))]
      const hash = await writer.writeContract({
        abi: batch.abi,
        address: await deploy(batch),
        functionName: 'run',
        args,
      })
      const { status } = await reader.waitForTransactionReceipt({ hash })
      if (status !== 'success') throw new Error('The calls failed.')
    },
    dataOf,
  }
}
