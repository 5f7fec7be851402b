// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// Makes many calls in one transaction, as wallets and relayers do, and whoever wants several events in one receipt.
contract Batch {
    function run(address to, bytes[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool done, ) = to.call(calls[i]);
            require(done, "a call failed");
        }
    }
}
