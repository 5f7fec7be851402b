// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";

/// A token that tells of the transfer before it tells of its authorization, other than EIP-3009's own implementation.
contract ReversedToken3009 is ERC3009 {
    constructor() ERC20("Test USD", "TUSD") EIP712("Test USD", "2") {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function _transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce
    ) internal override {
        _checkValidity(validAfter, validBefore);
        _consumeNonce(from, nonce);
        _transfer(from, to, value);
        emit AuthorizationUsed(from, nonce);
    }
}
