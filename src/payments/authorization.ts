import { type Hex, parseAbi, parseSignature } from 'viem'

/** The functions of EIP-3009 used here. */
export const TOKEN = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
])
/** A signed authorization to move tokens (EIP-3009 `TransferWithAuthorization`). Amounts and times are decimal text. */
export interface Authorization {
  from: string
  to: string
  value: string
  validAfter: string
  validBefore: string
  nonce: string
  signature: string
}

/** Arguments of `transferWithAuthorization` for an authorization. */
export function argumentsOf({ from, to, value, validAfter, validBefore, nonce, signature }: Authorization) {
  const { r, s, yParity } = parseSignature(signature as Hex)
  return [
    from as Hex,
    to as Hex,
    BigInt(value),
    BigInt(validAfter),
    BigInt(validBefore),
    nonce as Hex,
    27 + yParity,
    r,
    s,
  ] as const
}
