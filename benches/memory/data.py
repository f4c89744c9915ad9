"""Makes readings of any size: every row has an id of its own, in no order; a device, a few values, and a note of 40 bytes."""

HEADER = "id,device,day,amount,note\n"
TEXT = "the quick brown fox jumps over a lazy do"


def rows(count):
    for row in range(count):
        # An odd factor turns the numbers below 2^40 into each other: unique ids, far from sorted.
        number = row * 678_152_731_649 % 2**40
        device = number % 5_000
        yield f"{number:013d},device-{device:04d},{1 + row % 28:02d},{number % 100_003 / 100:.2f},{TEXT}{number % 997:03d}\n"


def build(path, size):
    """Writes about `size` bytes."""
    partial = path.with_suffix(".partial")
    with open(partial, "w", newline="") as file:
        file.write(HEADER)
        count, batch = size // 82, []
        for line in rows(count):
            batch.append(line)
            if len(batch) == 10_000:
                file.writelines(batch)
                batch.clear()
        file.writelines(batch)
    partial.rename(path)
