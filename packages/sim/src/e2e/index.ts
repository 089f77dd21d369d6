/** The running product, for benchmarks as for tests. */
export { Follower } from "./follower.ts";
export { Product, type ProductOptions } from "./product.ts";
