/**
 * The protocol's version. `version.test.ts` hashes every schema of this package and pins it to the number here, so that
 * no change of the wire goes unseen. Additive changes keep the number and renew the hash.
 *
 * 1: first version.
 */
export const protocolVersion = 1;
export const protocolVersions: readonly number[] = [1];
