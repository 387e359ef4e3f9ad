// Where randomness comes from. Every kind of chance offers
//   coins(count, threshold)  independent draws, each true with the probability of the threshold, exactly
//   uniform(n)               one of 0, 1, …, n - 1, exactly equally likely
// A draw compares a uniform real number with a threshold and reads only as many digits of it as the decision needs.

// Uniform 64-bit words, read in the same order as discreet/noise reads them: the same words give the same report.
export class Words {
  constructor(next) { this.next = next; }

  coins(count, threshold) {
    const [edge, whole] = threshold(64);
    const words = Array.from({length: count}, () => this.next());
    return words.map(word => word === edge && !whole ? this.#settle(edge, threshold) : word < edge);
  }

  #settle(prefix, threshold) {
    for (let bits = 128; ; bits += 64) {
      prefix = prefix << 64n | this.next();
      const [edge, whole] = threshold(bits);
      if (prefix !== edge || whole) return prefix < edge;
    }
  }

  uniform(n) {
    const size = BigInt(n), fair = 2n ** 64n - 2n ** 64n % size;
    let word = this.next();
    while (word >= fair) word = this.next();
    return Number(word % size);
  }
}

// The browser's generator for cryptography.
export const machine = () => new Words(() => crypto.getRandomValues(new BigUint64Array(1))[0]);

// Coins or dice on a table. `digits` are what was thrown so far, each from 0 to base - 1.
export class Thrown {
  constructor(digits, base) { Object.assign(this, {digits, base: BigInt(base), used: 0}); }

  #throw() {
    if (this.used === this.digits.length) throw new ThrowAgain();
    return BigInt(this.digits[this.used++]);
  }

  coins(count, threshold) { return Array.from({length: count}, () => this.#isBelow(threshold)); }

  #isBelow(threshold) {
    let place = 0n, places = 1n;  // the number drawn lies in [place, place + 1] / places
    for (let bits = 64; ; bits += 4) {
      const [least, most, all] = around(threshold, bits);  // the probability lies in [least, most] / all
      if ((place + 1n) * all <= least * places) return true;
      if (place * all >= most * places) return false;
      place = place * this.base + this.#throw();
      places *= this.base;
    }
  }

  uniform(n) {
    const size = BigInt(n);
    for (;;) {
      let place = 0n, places = 1n;
      while (places < size) {
        place = place * this.base + this.#throw();
        places *= this.base;
      }
      if (place < places - places % size) return Number(place % size);
    }
  }
}

function around(threshold, bits) {
  if (threshold.exact) return [threshold.exact[0], ...threshold.exact];
  const [edge, whole] = threshold(bits);
  return [edge, whole ? edge : edge + 1n, 1n << BigInt(bits)];
}

export class ThrowAgain extends Error {}
