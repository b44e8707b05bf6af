/* Reference for mul16-c.test.toml: a line of JSON per call in, a line of JSON out. */

#include <stdio.h>

int main(void)
{
    char line[256];
    unsigned long bc, de;

    while (fgets(line, sizeof line, stdin)) {
        /* The calls of a property differ in the numbers only. */
        if (sscanf(line, "{\"call\":\"MUL16\",\"in\":{\"BC\":%lu,\"DE\":%lu}", &bc, &de) != 2) {
            fprintf(stderr, "unexpected call: %s", line);
            return 1;
        }
        printf("{\"DE\":%lu,\"HL\":%lu}\n", bc * de >> 16, bc * de & 0xFFFF);
        fflush(stdout);
    }
    return 0;
}
