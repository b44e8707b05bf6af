        .LOC    9000H
START:  JMPR    START
        .END    START
