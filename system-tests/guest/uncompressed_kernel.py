"""uncompressed_kernel.py VMLINUZ OUT: writes the ELF file inside a bzImage.

QEMU starts this file by PVH. Under emulation it takes 3 s to a shell; unpacking the kernel in the guest alone would
take 4 to 7 s.
"""
import subprocess
import sys

# The first bytes of each compression format, and its decompressor; bytes after the compressed part are ignored.
COMPRESSIONS = (
    (b"\xfd7zXZ\0", ["xz", "-dc", "--single-stream"]),
    (b"(\xb5/\xfd", ["zstd", "-dcq"]),
    (b"\x1f\x8b\x08", ["gzip", "-dc"]),
    (b"\x02!L\x18", ["lz4", "-dc"]),
)


def uncompressed(image):
    for magic, command in COMPRESSIONS:
        at = image.find(magic)
        while at > 0:
            try:
                done = subprocess.run(command, input=image[at:], capture_output=True, check=False)
            except FileNotFoundError:
                break
            if done.stdout.startswith(b"\x7fELF"):
                return done.stdout
            at = image.find(magic, at + 1)
    return None


def main():
    source, target = sys.argv[1:]
    with open(source, "rb") as file:
        kernel = uncompressed(file.read())
    if kernel is None:
        sys.exit(f"{source} holds no ELF file in a compression known here ({', '.join(c[0] for _, c in COMPRESSIONS)})")
    with open(target, "wb") as file:
        file.write(kernel)


if __name__ == "__main__":
    main()
